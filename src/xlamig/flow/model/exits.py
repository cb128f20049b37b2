"""Blocks that end the program, and statements that leave a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

Loop = TypeVar("Loop")


def ends_program(
    block: ir.Block, name_of: Callable[[ir.Expr], str] = path_of, scope: Scope | None = None
) -> bool:
    """Return whether a block ends with `raise`, `sys.exit()` or the like, or with a call of a function of the
    module that does, if its `scope` is given; `name_of` resolves callees."""
    last = block[-1] if block else None
    if isinstance(last, ir.ExprStmt) and isinstance(last.value, ir.Call):
        func = last.value.func
        bound = scope.lookup(func.id) if scope is not None and isinstance(func, ir.Name) else []
        function = bound[0].node if len(bound) == 1 else None
        if isinstance(function, ir.FunctionDef):
            returns = any(isinstance(node, ir.Return) for node in ir.walk(function))
            return not returns and ends_program(function.body, name_of)
        return name_of(func) in table.names("program", "exits")
    return isinstance(last, ir.Raise)


def jumps_out(node: ir.Node) -> bool:
    """Return whether a statement leaves the function or the iteration: return, break or continue. `raise`
    demands what a test asks for, it does not avoid it."""
    return isinstance(node, ir.Return) or (isinstance(node, ir.Jump) and node.kind != "pass")


def is_break(node: ir.Node) -> bool:
    """Return whether a statement leaves the loop around it, and not the function."""
    return isinstance(node, ir.Jump) and node.kind == "break"


def leaves_loops(block: ir.Block) -> bool:
    """Return whether a block ends with a statement that leaves the loop around it, or all: `return`."""
    return bool(block) and (isinstance(block[-1], ir.Return) or is_break(block[-1]))


def loop_left(block: ir.Block, loops: Sequence[Loop]) -> Loop | None:
    """Return the outermost loop that the end of a block leaves, of those around it, the outermost first; None
    if it leaves none."""
    if not loops or not leaves_loops(block):
        return None
    return loops[0] if isinstance(block[-1], ir.Return) else loops[-1]
