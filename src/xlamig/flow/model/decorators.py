"""Decorators that leave a function to who names it."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def is_plain(decorator: ir.Expr) -> bool:
    """Return whether a decorator calls a function only where it is called, with the same arguments, or leaves
    a class to who names it."""
    called = decorator.func if isinstance(decorator, ir.Call) else decorator
    return path_of(called).rpartition(".")[2] in table.names("modules", "left-alone")
