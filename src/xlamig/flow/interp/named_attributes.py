"""Loops over the names of attributes: `for name in ("x", "y"): setattr(self, name, ...)`."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue

_MOST = 24  # names, each of which runs the body once more
_BY_NAME = frozenset({"getattr", "setattr"})


def names_of(node: ir.For, iterable: AbstractValue) -> Sequence[AbstractValue]:
    """Return the texts over which a loop gets or sets attributes by their names, if all are known; the body
    then runs with each of them."""
    items = iterable.items or ()
    known = iterable.kind == "sequence" and 1 < len(items) <= _MOST
    if not known or not all(isinstance(item.const, str) for item in items):
        return ()
    return items if _uses_names(node) else ()


def _uses_names(node: ir.For) -> bool:
    """Return whether a loop gives its target to `getattr` or `setattr`, and always ends."""
    if not isinstance(node.target, ir.Name):
        return False
    target, used = node.target.id, False
    for inner in ir.walk(node):
        match inner:
            case ir.Return() | ir.Jump() | ir.Yield():
                return False
            case ir.Call(func=ir.Name(id=name), args=(_, ir.Arg(value=key), *_)) if name in _BY_NAME:
                used |= any(isinstance(part, ir.Name) and part.id == target for part in ir.walk(key))
    return used
