"""Values on their way between modules that one analysis runs."""

from __future__ import annotations

from typing import Any

from xlamig.flow.interp.domain import AbstractValue

_MAX_DEPTH = 3  # of the parts of a value


def named(value: AbstractValue, filename: str, depth: int = _MAX_DEPTH) -> AbstractValue:
    """Return a value for another module: its reasons name the file that they are of."""
    changes: dict[str, Any] = {}
    if any(not why.filename for why in value.why):
        changes["why"] = tuple(why if why.filename else why.of(filename) for why in value.why)
    if depth and isinstance(value.items, tuple):
        changes["items"] = tuple(named(item, filename, depth - 1) for item in value.items)
    elif depth and isinstance(value.items, dict):
        changes["items"] = {key: named(item, filename, depth - 1) for key, item in value.items.items()}
    elif depth and value.element is not None:
        changes["element"] = named(value.element, filename, depth - 1)
    return value.replace(**changes) if changes else value
