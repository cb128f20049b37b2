"""Indices that the host finds by values, as `np.where(labels != 0)`: how many they are differs every step."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DynamicShape
from xlamig.flow.interp.domain import LIKELY, AbstractValue
from xlamig.flow.interp.frames import STEPS
from xlamig.flow.interp.let_through import record_let_through
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

_FINDERS = frozenset({"where", "nonzero", "flatnonzero", "argwhere"})
_DEPTH = 3  # names that stand for one another


def record_host_indices(
    m: State, node: ir.Subscript, part: ir.Expr, index: AbstractValue, base: AbstractValue
) -> bool:
    """Record that indices of the host pick a different number of elements of a device tensor every step;
    return whether a list of them does."""
    if m.frequency != "step" or base.place != "device" or sureness(base) < LIKELY:
        return False
    if record_let_through(m, node, index, "[]"):
        return True
    call = _finder(m, part)
    if call is None or not any(_varies(m, arg.value) for arg in call.args):
        return False
    m.record(
        DynamicShape,
        node,
        LIKELY,
        base.why,
        via="host-indices",
        operation=short(m.source(call)),
        tensor=short(m.source(node.value)),
        mask=short(", ".join(map(m.source, node.index))),
        parts={"mask": (part.start, part.end)},
    )
    return False


def _finder(m: State, part: ir.Expr) -> ir.Call | None:
    """Return the call of NumPy that finds the indices."""
    match part:
        case ir.Name():
            above = [one for one in m.frame.scope.find(part.id) if one.end <= part.start]
            last = max(above, key=lambda one: one.end, default=None)
            value = last.value if last is not None and last.kind == "value" else None
            return _finder(m, value) if value is not None and not isinstance(value, ir.Name) else None
        case ir.Subscript(value=value):  # `np.where(c)[0]`
            return _finder(m, value)
        case ir.Call(func=func, args=args):
            dotted = m.names.dotted(func, m.frame.scope) or path_of(func)
            holder, _, name = dotted.rpartition(".")
            finds = name in _FINDERS and (name != "where" or len(args) == 1)
            return part if finds and holder in ("np", "numpy") else None
    return None


def _varies(m: State, node: ir.Expr, depth: int = _DEPTH) -> bool:
    """Return whether an expression asks for values that the function is given, or that a step sets: sizes,
    and the counters of loops inside a step, are the same every step."""
    for name in _names_of_values(node):
        for binding in m.frame.scope.bindings.get(name, ()) if depth else ():
            if binding.kind == "param" and name not in ("self", "cls"):
                return True
            place = ir.Name(binding.start, binding.end, name)
            if binding.value is None and any(loop.kind in STEPS for loop in m.loops_around(place)[-1:]):
                return True
            if binding.value is not None and _varies(m, binding.value, depth - 1):
                return True
    return False


def _names_of_values(node: ir.Node) -> Iterator[str]:
    match node:
        case ir.Name(id=name):
            yield name
        case ir.Attribute(attr="shape" | "ndim" | "dtype" | "device"):
            return
        case ir.Call(func=ir.Name(id="len") | ir.Attribute(attr="size" | "numel")):
            return
        case _:
            for child in ir.children(node):
                yield from _names_of_values(child)
