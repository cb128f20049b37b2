"""Leave programs whose modules get tensors that no statement of the file makes or moves."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.devices import DeviceValues
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import FixDeclined
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings

_DEPTH = 4  # assignments that a name is followed through


def check_inputs(tree: Tree, calls: Calls, known: DeviceValues) -> None:
    """Raise FixDeclined where a module that is moved is given an argument of a method that only other files
    call: they would have to move it, and the result would come back to them on the device."""
    called = {last_name(node.func) for node in tree.nodes if isinstance(node, ir.Call)}
    for call in tree.nodes:
        if not isinstance(call, ir.Call) or calls.kind(call) or not known.is_module(call.func):
            continue
        function = tree.function(call)
        if function is None or function.name in called or _is_in_module(tree, calls, call):
            continue
        for arg in call.args:
            if (name := _parameter(known, function, arg.value)) is not None:
                raise FixDeclined(f"other files pass `{name}` to `{function.name}`, and it is not moved here")


def _is_in_module(tree: Tree, calls: Calls, node: ir.Node) -> bool:
    return any(isinstance(n, ir.ClassDef) and calls.kind_of_class(n) == "module" for n in tree.above(node))


def _parameter(
    known: DeviceValues, function: ir.FunctionDef, value: ir.Expr, depth: int = _DEPTH
) -> str | None:
    """Return the parameter that a value is computed from, unless the value is on the device."""
    if depth == 0 or known.is_tensor(value):
        return None
    if isinstance(value, ir.Name):
        bound = bindings(function, value.id)
        if any(isinstance(node, ir.Param) for node in bound):
            return value.id
        given = [node.value for node in bound if isinstance(node, ir.Assign)]
        found = (_parameter(known, function, one, depth - 1) for one in given)
        return next(filter(None, found), None)
    return next(filter(None, (_parameter(known, function, one, depth) for one in _made_of(value))), None)


def _made_of(value: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the values that an expression takes its elements from: `x` of `torch.cat(x)[i].float()`."""
    match value:
        case ir.Attribute(value=inner) | ir.Subscript(value=inner) | ir.Starred(value=inner):
            yield inner
        case ir.Sequence(elements=elements):
            yield from elements
        case ir.Binary(left=left, right=right):
            yield from (left, right)
        case ir.Call(func=ir.Attribute(value=ir.Call() | ir.Subscript() as inner)):
            yield inner
        case ir.Call(func=func, args=args):
            yield from (func.value,) if isinstance(func, ir.Attribute) else ()
            yield from (arg.value for arg in args[:1])
