"""Strings that are parts of others: `kind.lower().split("-")[0]`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Scope

_METHODS = frozenset({"casefold", "lower", "lstrip", "rsplit", "rstrip", "split", "strip", "upper"})
_MOST_NAMES = 3


def whole_of(node: ir.Expr) -> ir.Expr:
    """Return the string that an expression takes a part of, in any case; the expression for others."""
    match node:
        case ir.Call(func=ir.Attribute(value=value, attr=name)) if name in _METHODS:
            return whole_of(value)
        case ir.Subscript(index=(ir.Const(value=str()),)):
            return node  # an entry
        case ir.Subscript(value=value):
            return whole_of(value)
    return node


def is_part_of(node: ir.Expr, name: str, scope: Scope) -> bool:
    """Return whether a value is a part of the string of a name, also by way of other names."""
    whole = whole_of(node)
    for _ in range(_MOST_NAMES):
        if not isinstance(whole, ir.Name) or whole.id == name:
            break
        bound = scope.lookup(whole.id)
        value = bound[0].value if len(bound) == 1 else None
        if value is None or whole_of(value) is value:
            return False
        whole = whole_of(value)
    return isinstance(whole, ir.Name) and whole.id == name and whole is not node
