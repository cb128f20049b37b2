"""The base of all nodes of the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any


@dataclass(slots=True, eq=False)
class Node:
    start: int
    end: int

    def __reduce__(self) -> tuple[type[Node], tuple[Any, ...]]:
        """Pickle as (class, field values), half the size of the default."""
        return type(self), _values[type(self)](self)


class _Values(dict[type[Node], Callable[[Any], tuple[Any, ...]]]):
    """The reader of the fields of a kind of node."""

    def __missing__(self, kind: type[Node]) -> Callable[[Any], tuple[Any, ...]]:
        self[kind] = values = attrgetter(*(field.name for field in fields(kind)))
        return values


_values = _Values()
