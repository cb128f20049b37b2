"""Masks that no iteration of a loop changes: they select as many elements in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.frames import STEPS, Loop
from xlamig.flow.interp.kept_reads import is_kept
from xlamig.flow.interp.same_reads import holds_same, is_unchanged, root_of
from xlamig.flow.interp.state import State
from xlamig.flow.interp.stored_paths import stored_in
from xlamig.flow.model.only_calls import only_call
from xlamig.flow.model.scopes import Binding, Scope, path_of

_DEPTH = 4  # calls and other names of a mask, one behind the other
_MAY_BE_MASKS = frozenset({"tensor", "unknown", "foreign"})


def unchanged_mask(m: State, mask: ir.Expr) -> Mapping[str, str]:
    """Return the proof "unchanged" of a mask that is made before the loop, and only compared in it, and
    "as-is" where nothing is computed of it there: of `mask`, not of `mask != 1`. The loop may be a caller's
    where the mask is a global name, an attribute of one, or what the only call gives."""
    tensors = [part for part in _operands(mask) if not isinstance(part, ir.Const)]
    if m.forwards or not tensors or not all(_is_made_before(m, part) for part in tensors):
        return {}
    text = m.source(mask)
    return {"unchanged": text, "as-is": text} if path_of(mask) else {"unchanged": text}


def _operands(node: ir.Node) -> Iterator[ir.Expr]:
    """Yield what an expression compares and joins."""
    match node:
        case ir.Compare() | ir.Unary() | ir.Binary():
            for part in ir.children(node):
                yield from _operands(part)
        case ir.Expr():
            yield node


def _is_made_before(m: State, mask: ir.Expr) -> bool:
    around = m.loops_around(mask)
    called = [loop for loop in m.loops if loop not in around and loop.kind in (*STEPS, "accumulation")]
    if around:
        outer = around[0].node
        if not is_unchanged(m, mask, outer, stored_in(outer)) and not _is_kept_in(m, mask, outer):
            return False
        if not called or around[0].outside in ("once", "epoch", "interval"):
            return True  # the loop as a whole runs seldom, and so does what makes its mask
    path = root_of(mask)
    return bool(path) and _is_from_before(m, path, m.frame.scope, called, _DEPTH)


def _is_kept_in(m: State, mask: ir.Expr, loop: ir.Node) -> bool:
    """Return whether a loop leaves a mask of data as it is, of which only its name says what it is."""
    path = root_of(mask)
    name = path.partition(".")[0]
    value: AbstractValue | None = m.env.get(name)
    unknown = value is None or value.kind in _MAY_BE_MASKS or (path != name and value.kind == "instance")
    return name not in ("", "self") and unknown and holds_same(loop, mask, path, stored_in(loop))


def _is_from_before(m: State, path: str, scope: Scope, called: Sequence[Loop], depth: int) -> bool:
    """Return whether what a path of a function stands for was made before the loops of steps that call it,
    and none of them changes it."""
    function = scope.node
    name, _, rest = path.partition(".")
    bound = scope.lookup(name)
    alias = bound[0].start if len(bound) == 1 and bound[0].scope is scope else -1
    if not depth or function is None or not _leaves(function, path, alias):
        return False
    if name == "self":
        return _is_attribute_kept(m, rest)
    if any(one.kind == "param" for one in bound):
        own = len(bound) == 1 and name in scope.bindings
        return own and _is_given_from_before(m, path, scope, called, depth - 1)
    if bound and all(one.scope.kind == "module" for one in bound):
        here = [loop for loop in called if loop.base == m.base]
        return all(_leaves(loop.node, path) for loop in here) and not any(
            ir.encloses(loop.node, _place(one)) for one in bound for loop in here
        )
    if len(bound) != 1 or bound[0].scope is not scope:
        return False
    value = bound[0].value
    other = root_of(value) if bound[0].kind == "value" and value is not None else ""
    return bool(other) and _is_from_before(m, _joined(other, rest), scope, called, depth - 1)


def _is_given_from_before(m: State, path: str, scope: Scope, called: Sequence[Loop], depth: int) -> bool:
    """Return whether the only call of a function gives its parameter something that was made before."""
    name, _, rest = path.partition(".")
    found = only_call(m.analysis.module, scope.node)
    given = found[0].get(name) if found is not None else None
    if found is None or given is None or not path_of(given):
        return False
    path = _joined(path_of(given), rest)
    around = [loop for loop in called if loop.base == m.base and ir.encloses(loop.node, given)]
    if not all(_leaves(loop.node, path) for loop in around):
        return False
    outside = [loop for loop in called if loop not in around]
    if not outside:
        return True
    return isinstance(found[1], ir.FunctionDef) and _is_from_before(
        m, path, m.scopes.of(found[1]), outside, depth
    )


def _is_attribute_kept(m: State, path: str) -> bool:
    """Return whether no method but `__init__` writes an attribute of `self`, or a part of it: `data.mask`."""
    node: ir.Expr = ir.Name(0, 0, "self")
    for part in path.split("."):
        node = ir.Attribute(0, 0, node, part, 0)
        if not is_kept(m, node):
            return False
    return True


def _leaves(node: ir.Node, path: str, alias: int = -1) -> bool:
    """Return whether a loop or function leaves what a path stands for as it is, but for the statement at
    `alias` that binds its name."""
    return holds_same(node, node, path, stored_in(node), alias)


def _place(one: Binding) -> ir.Node:
    return ir.Name(one.start, one.end, "")


def _joined(path: str, rest: str) -> str:
    return f"{path}.{rest}" if rest else path
