"""Decorators that leave a function to who names it."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import path_of

PLAIN = frozenset(
    {
        "staticmethod",
        "classmethod",
        "property",
        "no_grad",
        "inference_mode",
        "autocast",
        "contextmanager",
        "cached_property",
    }
)
"""The last names of decorators that call a function only where it is called."""


def is_plain(decorator: ir.Expr) -> bool:
    """Return whether a decorator calls a function only where it is called, with the same arguments."""
    called = decorator.func if isinstance(decorator, ir.Call) else decorator
    return path_of(called).rpartition(".")[2] in PLAIN
