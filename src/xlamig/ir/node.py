"""The base of all nodes of the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def ir_node(cls: type[T]) -> type[T]:
    """A slotted dataclass that pickles as (class, field values), half the size of the default."""
    made: type[Any] = dataclass(slots=True, eq=False)(cls)
    values: Callable[[Any], tuple[Any, ...]] = attrgetter(*(f.name for f in fields(made)))

    def reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
        return type(self), values(self)

    made.__reduce__ = reduce  # type: ignore[assignment]
    return made


@ir_node
class Node:
    start: int
    end: int
