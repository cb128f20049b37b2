"""Values on their way between modules that one analysis runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import POSSIBLE, AbstractValue, Mark
from xlamig.flow.interp.frames import Function

_MAX_DEPTH = 3  # of the parts of a value
_TELLING = frozenset(
    {"tensor", "module", "optimizer", "loader", "dataset", "scheduler", "scaler", "device", "text"}
)

_TELLING_TRAITS = frozenset({Mark.STATE, Mark.AWAITS_MOVE})


def call_tells(function: Function, args: Args) -> bool:
    """Return whether a call tells a function of another module more than it guesses; of a class that takes
    steps, what a method does decides what its loop is."""
    takes_steps = function.owner is not None and "step" in function.owner.methods
    return takes_steps or any(map(tells, _given(function, args)))


def _given(function: Function, args: Args) -> Iterator[AbstractValue]:
    """Yield the arguments of a call, and the object of a method unless it is being made."""
    yield from args.all
    if function.bound is not None and getattr(function.node, "name", "") != "__init__":
        yield function.bound


def tells(value: AbstractValue, depth: int = _MAX_DEPTH) -> bool:
    """Return whether an argument tells a callee more than it guesses: a residence, why a value changes, a
    function, the state of a module."""
    if value.cause or value.kind == "function" or value.trait in _TELLING_TRAITS:
        return True
    if value.kind in _TELLING and value.place and value.sure > POSSIBLE:
        return True
    if not depth:
        return False
    parts = value.items or (value.fields or {}).values()
    return any(tells(part, depth - 1) for part in parts) or (
        value.element is not None and tells(value.element, depth - 1)
    )


def named(value: AbstractValue, filename: str, depth: int = _MAX_DEPTH) -> AbstractValue:
    """Return a value for another module: its reasons name the file that they are of."""
    changes: dict[str, Any] = {}  # Any: fields of a value differ in type
    if any(not why.filename for why in value.why):
        changes["why"] = tuple(why if why.filename else why.of(filename) for why in value.why)
    if depth and value.items is not None:
        changes["items"] = tuple(named(item, filename, depth - 1) for item in value.items)
    elif depth and value.fields is not None:
        changes["fields"] = {key: named(item, filename, depth - 1) for key, item in value.fields.items()}
    elif depth and value.element is not None:
        changes["element"] = named(value.element, filename, depth - 1)
    return value.replace(**changes) if changes else value
