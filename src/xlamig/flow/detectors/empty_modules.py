"""Modules of torch that hold no tensor, so that a move does nothing: losses, activations, pooling."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_DEPTH = 3  # names and moves between a module and its construction
_RETURN_THEIR_RECEIVER = frozenset({"cuda", "to", "cpu", "float", "train", "eval"})


def holds_nothing(node: ir.Expr, scope: Scope, analysis: Analysis, depth: int = _DEPTH) -> bool:
    """Return whether an expression is such a module: its class takes no device to make parameters on, and no
    tensor or module is given to it."""
    if not depth:
        return False
    match node:
        case ir.Call():
            if (moved := _moved(node)) is not None:
                return holds_nothing(moved, scope, analysis, depth - 1)
            return _is_empty(node, analysis.names.dotted(node.func, scope) or "")
        case ir.Name() | ir.Attribute() if path := path_of(node):
            made = [one for one in scope.find(path) if not _moves(one.value, path)]
            return bool(made) and all(
                one.value is not None and holds_nothing(one.value, one.scope, analysis, depth - 1)
                for one in made
            )
    return False


def _moved(node: ir.Expr) -> ir.Expr | None:
    """Return the receiver of a method that gives it back."""
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr=method)) if method in _RETURN_THEIR_RECEIVER:
            return owner
    return None


def _moves(value: ir.Expr | None, path: str) -> bool:
    """Return whether a value is what the name held before: `m = m.cuda()`."""
    moved = _moved(value) if value is not None else None
    return moved is not None and path_of(moved) == path


def _is_empty(node: ir.Call, name: str) -> bool:
    known = signatures.signature(name) if name.startswith("torch.nn.") else None
    if known is None or name.removeprefix("torch.nn.") in table.names("torch", "holders"):
        return False
    if "device" in (*known.positional, *known.keywords) or any(arg.star for arg in node.args):
        return False
    names = dict(enumerate(known.positional))
    return known.tensors.isdisjoint(arg.keyword or names.get(i, "") for i, arg in enumerate(node.args))
