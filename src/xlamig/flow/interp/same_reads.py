"""Reads of a tensor that no iteration of a loop changes: one copy before the loop serves them all."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache

from xlamig import ir
from xlamig.flow.interp.kept_reads import is_kept
from xlamig.flow.interp.state import State
from xlamig.flow.interp.stored_paths import StoredPaths
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_TRAINED = frozenset({"requires_grad", "requires_grad_", "grad"})


def is_unchanged(m: State, node: ir.Node, loop: ir.Node, stored: StoredPaths) -> bool:
    """Return whether a tensor that the iterations of a loop or comprehension read has the same value in all
    of them: it was made before the loop, which assigns to the paths `stored`, and nothing there may write
    into it."""
    path = root_of(node)
    name, _, attribute = path.partition(".")
    if not path or not holds_same(loop, node, path, stored):
        return False
    if name == "self" and attribute:
        return "." not in attribute and is_kept(m, _tensor(node)) and not _is_trained(m, path)
    value = m.env.get(name)
    return not attribute and value is not None and value.kind == "tensor" and not _is_trained(m, path)


def holds_same(loop: ir.Node, node: ir.Node, path: str, stored: StoredPaths, but: int = -1) -> bool:
    """Return whether what a path of `node` stands for is the same in all iterations: the loop assigns to
    nothing of it, except in the statement that starts at `but`, and gives it to nothing that may write into
    it."""
    written = stored.touch(path, but) or path in _given_away(loop)
    return not written and path.partition(".")[0] not in _bound(loop, node)


def _bound(loop: ir.Node, node: ir.Node) -> Iterator[str]:
    """Yield the names that comprehensions and lambdas around a node set, inside of a loop."""
    for part in ir.path_down(loop, node):
        match part:
            case ir.Comprehension(generators=generators):
                targets = (inner for one in generators for inner in ir.walk(one.target))
                yield from (inner.id for inner in targets if isinstance(inner, ir.Name))
            case ir.Lambda(params=params):
                yield from (param.name for param in params)


def root_of(node: ir.Node) -> str:
    """Return the path of the tensor that is read, or whose method is called: `x` of `x[0].float()`."""
    tensor = _tensor(node)
    return path_of(tensor) if isinstance(tensor, ir.Name | ir.Attribute) else ""


def _tensor(node: ir.Node) -> ir.Node:
    match node:
        case ir.Subscript(value=value, index=index) if all(map(_is_constant, index)):
            return _tensor(value)
        case ir.Call(func=ir.Attribute(value=owner, attr=method), args=args):
            changes = method.endswith("_") or method in table.names("sizes", "draws")
            if not changes and all(_is_constant(arg.value) for arg in args):
                return _tensor(owner)
    return node


def _is_constant(node: ir.Node) -> bool:
    return all(isinstance(part, ir.Const | ir.Unary | ir.Slice | ir.Sequence) for part in ir.walk(node))


@per_file
@lru_cache(maxsize=64)  # each read in a loop asks again
def _given_away(loop: ir.Node) -> Set[str]:
    """Return the paths that a loop gives to a call whose result nothing takes, or as its output."""
    found: set[str] = set()
    for part in ir.walk(loop):
        match part:
            case ir.ExprStmt(value=ir.Call(args=args)):
                found.update(path for arg in args for path in _paths(arg))
            case ir.Arg(keyword="out", value=value):
                found.add(path_of(value))
    return found


def _paths(arg: ir.Arg) -> Iterator[str]:
    """Yield the paths of what a call gets, also in a list."""
    parts = arg.value.elements if isinstance(arg.value, ir.Sequence) else (arg.value,)
    yield from map(path_of, parts)


def _is_trained(m: State, path: str) -> bool:
    """Return whether the function, or the class of an attribute, makes a tensor one that is trained: a
    parameter, one that wants a gradient, or one in a list that a call gets, as an optimizer does."""
    around = m.frame.scope.class_scope if "." in path else m.frame.scope
    node = around.node if around is not None else None
    return path in _trained_in(node or m.analysis.module)


@per_file
@lru_cache(maxsize=64)
def _trained_in(root: ir.Node) -> Set[str]:
    """Return the paths of what a function or class makes tensors that are trained."""
    found: set[str] = set()
    for part in ir.walk(root):
        match part:
            case ir.Assign(targets=targets, value=value):
                if any(_makes_trained(inner) for inner in ir.walk(value)):
                    found.update(map(path_of, targets))
            case ir.Attribute(value=owner, attr=attr) if attr in _TRAINED:
                found.add(path_of(owner))
            case ir.Arg(value=ir.Sequence(elements=elements)):
                found.update(map(path_of, elements))
    return found


def _makes_trained(node: ir.Node) -> bool:
    match node:
        case ir.Call(func=func):
            return path_of(func).endswith("Parameter")
        case ir.Arg(keyword="requires_grad", value=ir.Const(value=value)):
            return bool(value)
        case ir.Attribute(attr=attr):
            return attr in _TRAINED
    return False
