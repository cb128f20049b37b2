"""Uses that speak for a number where nothing proves a tensor."""

from __future__ import annotations

from xlamig import ir

_ORDER = frozenset({"==", "!=", "<", "<=", ">", ">="})


def tested_number(test: ir.Expr) -> ir.Expr | None:
    """Return the name that a test compares with an integer: `if t == 0:`."""
    match test:
        case ir.Compare(left=ir.Name() as left, ops=(op,), comparators=(ir.Const(value=int()),)):
            return left if op in _ORDER else None
    return None


def expects_no_number(handler: ir.Handler) -> bool:
    """Return whether a handler is for text that `float` cannot read: `except (TypeError, ValueError)`."""
    return handler.type is not None and any(
        isinstance(name, ir.Name) and name.id == "ValueError" for name in ir.walk(handler.type)
    )
