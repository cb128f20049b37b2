"""Values that a block replaces before it ends."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.scopes import path_of


def is_overwritten(body: ir.Block, path: str, start: int) -> bool:
    """Return whether the block that holds the statement at `start` goes on to give a name or an attribute
    another value, whichever branches run."""
    return _gives((statement for statement in _block_of(body, start) if statement.start > start), path)


def _block_of(body: ir.Block, start: int) -> ir.Block:
    """Return the innermost block of a function that holds the statement at `start`; () if none does."""
    for statement in body:
        if statement.start == start:
            return body
        if statement.start < start < statement.end and not isinstance(
            statement, ir.FunctionDef | ir.ClassDef
        ):
            inner = (_block_of(block, start) for block in ir.blocks_of(statement))
            return next((found for found in inner if found), ())
    return ()


def _gives(block: Iterable[ir.Stmt], path: str) -> bool:
    """Return whether every way through a block assigns to a path, or raises."""
    return any(_assigns(statement, path) for statement in block)


def _assigns(statement: ir.Stmt, path: str) -> bool:
    match statement:
        case ir.Assign(targets=targets):
            return any(path_of(target) == path for target in targets)
        case ir.With(body=body):
            return _gives(body, path)
        case ir.If(body=body, orelse=orelse):
            return _gives(body, path) and _gives(orelse, path)
        case ir.Raise():
            return True
    return False
