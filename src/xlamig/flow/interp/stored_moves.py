"""Moves whose result an object keeps, so that only the first call copies anything."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_CASTS = frozenset({"type", "type_as"})  # to the type of a tensor elsewhere


def stays_moved(move: ir.Call, statement: ir.Stmt, scope: Scope) -> bool:
    """Return whether a method keeps what it moves, `self.mean = self.mean.to(x.device)`, maybe only where
    there is something to move, and nothing but such moves and the constructor sets that attribute in the
    class."""
    owner = scope.parent.node if scope.parent else None
    path = _path_moved(move)
    if not path.startswith("self.") or not isinstance(owner, ir.ClassDef):
        return False
    if not isinstance(statement, ir.Assign) or all(part is not move for part in _branches(statement.value)):
        return False
    others = (method for method in owner.body if not _is_constructor(method))
    return path in _paths_set(statement) and all(
        isinstance(inner, ir.Assign) and _keeps(inner.value, path)
        for method in others
        for inner in ir.walk(method)
        if isinstance(inner, ir.Stmt) and path in _paths_set(inner)
    )


def _branches(value: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return both values of `x.cuda() if x is not None else None`; a value without a condition alone."""
    return (value.body, value.orelse) if isinstance(value, ir.IfExp) else (value,)


def _keeps(value: ir.Expr, path: str) -> bool:
    """Return whether a value is what the path holds, moved; one of two branches may be None, or not moved."""
    parts = _branches(value)
    moved = [_path_moved(part) == path for part in parts]
    return any(moved) and all(
        found or path_of(part) == path or (isinstance(part, ir.Const) and part.value is None)
        for part, found in zip(parts, moved, strict=True)
    )


def _is_constructor(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.FunctionDef) and statement.name == "__init__"


def _path_moved(value: ir.Expr) -> str:
    """Return `self.mean` of `self.mean.to(device)`; "" for what moves nothing."""
    match value:
        case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name in _CASTS | table.names(
            "unseen", "moves"
        ):
            return path_of(owner)
    return ""


def _paths_set(statement: ir.Stmt) -> Iterator[str]:
    match statement:
        case ir.Assign(targets=targets):
            for target in targets:
                parts = target.elements if isinstance(target, ir.Sequence) else (target,)
                yield from map(path_of, parts)
        case ir.AugAssign(target=target) | ir.AnnAssign(target=target) | ir.For(target=target):
            yield path_of(target)
