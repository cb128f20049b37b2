"""Find the reads between a loss and its backward pass, where a step boundary would cut the step in two."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir

_BACKWARD = frozenset({"backward", "manual_backward"})


def stands_before_backward(following: Sequence[tuple[ir.Block, int]]) -> bool:
    """Return whether a backward pass follows a statement in the same iteration of the innermost loop;
    `following` are its block and those around it, the innermost last, each with the place of what comes
    next there."""
    for depth in range(len(following) - 1, -1, -1):
        block, at = following[depth]
        if any(map(_runs_backward, block[at:])):
            return True
        if depth and _holds_loop(following[depth - 1]):
            return False
    return False


def _holds_loop(around: tuple[ir.Block, int]) -> bool:
    """Return whether the statement before a place in a block is a loop: its body is the next block inside."""
    block, at = around
    return 0 < at <= len(block) and isinstance(block[at - 1], ir.For | ir.While)


def _runs_backward(statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.FunctionDef | ir.ClassDef):
        return False
    calls = (node.func for node in ir.walk(statement) if isinstance(node, ir.Call))
    return any(isinstance(func, ir.Attribute) and func.attr in _BACKWARD for func in calls)
