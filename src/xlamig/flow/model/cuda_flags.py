"""A flag that the branches of a test for CUDA set, to True in one and to False in the other."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of

_BACKENDS = ("torch.backends.", "cudnn.")


def targets_in_branches(node: ir.If) -> tuple[ir.Expr, ...]:
    """Return the name, as both branches assign it, that one of them sets to True and the other to False;
    nothing where a branch does more than that, call functions and set options of backends."""
    body, orelse = [*_assigned(node.body)], [*_assigned(node.orelse)]
    if len(body) != 1 or len(orelse) != 1 or None in (*body, *orelse):
        return ()
    (yes, no) = body[0], orelse[0]
    if yes is None or no is None or path_of(yes[0]) != path_of(no[0]) or yes[1] is no[1]:
        return ()
    return yes[0], no[0]


def _assigned(block: ir.Block) -> Iterator[tuple[ir.Expr, bool] | None]:
    """Yield the names that a block sets to True or False; None for a statement that does something else."""
    for statement in block:
        match statement:
            case ir.Assign(targets=(target,)) if path_of(target).startswith(_BACKENDS):
                continue
            case ir.Assign(targets=(target,), value=ir.Const(value=bool(value))) if path_of(target):
                yield target, value
            case ir.ExprStmt(value=ir.Call() | ir.Const()):
                continue
            case _:
                yield None
