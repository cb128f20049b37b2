"""Derive the shape of a fact's field from its type: it decides which patterns make sense."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from xlamig.facts import FACTS, Argument, Fact, Guard, GuardKind, Value

_SCALARS = (str, int, float, bool)
_PLACES = frozenset({"span", "statement"})  # offsets: a pattern on them means nothing


@dataclass(frozen=True, slots=True)
class Shape:
    """`holds`: scalar one value, members a set of them, keys a mapping, value a facts.Value,
    arguments a call's, presence something only known to be there or not, any a table's row."""

    holds: Literal["scalar", "members", "keys", "value", "arguments", "presence", "any"]
    types: tuple[type, ...] = _SCALARS
    choices: tuple[str, ...] = ()
    member: Callable[[Any], Any] | None = None


ANY = Shape("any")
KEYS = Shape("keys")
VALUE = Shape("value")
VALUE_KINDS: tuple[str, ...] = get_args(get_type_hints(Value)["kind"])


@cache
def shapes(kind: str) -> Mapping[str, Shape]:
    """The fields of a kind of fact that a page can match."""
    cls: type[Fact] = FACTS[kind]
    hints = get_type_hints(cls)
    return {f.name: _shape(hints[f.name]) for f in fields(cls) if f.name not in _PLACES}


def _shape(hint: Any) -> Shape:
    origin = get_origin(hint)
    if origin is Literal:
        choices = get_args(hint)
        return Shape("scalar", tuple({type(c) for c in choices}), choices)
    if origin in (Union, types.UnionType):
        parts = [_shape(part) for part in get_args(hint) if part is not type(None)]
        if all(part.holds == "scalar" for part in parts):
            return Shape("scalar", tuple({t for part in parts for t in part.types}))
        return parts[0] if len(parts) == 1 else Shape("presence")
    if hint in _SCALARS:
        return Shape("scalar", (hint,))
    if hint is Value:
        return VALUE
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Shape("keys")
    if origin in (frozenset, tuple):
        return _members(get_args(hint)[0])
    return Shape("presence")


def _members(hint: Any) -> Shape:
    if hint is Argument:
        return Shape("arguments")
    if hint is Guard:
        return Shape("members", (str,), get_args(GuardKind), attrgetter("kind"))
    inner = _shape(hint)
    if inner.holds == "scalar":
        return Shape("members", inner.types, inner.choices)
    return Shape("presence")
