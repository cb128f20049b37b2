"""Blocks that end the program."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def ends_program(block: ir.Block, name_of: Callable[[ir.Expr], str] = path_of) -> bool:
    """Return whether a block ends with `raise`, `sys.exit()` or the like; `name_of` resolves callees."""
    last = block[-1] if block else None
    if isinstance(last, ir.ExprStmt) and isinstance(last.value, ir.Call):
        return name_of(last.value.func) in table.names("program", "exits")
    return isinstance(last, ir.Raise)
