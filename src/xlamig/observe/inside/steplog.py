"""What was put into the graph, operator by operator, so that two steps can be compared.

XLA compiles again when the graph differs from every earlier one. Its hash does not say where; the
list of operators with shapes and constants does, and each has its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from .frames import Site

LONGEST = 200_000  # operators that are remembered at least


class Entry(NamedTuple):
    """`lifted` holds numbers that torch_xla passes as inputs of the graph, except some."""

    operator: Any
    site: Site | None
    shapes: list[Any]
    baked: list[Any]
    lifted: list[Any]


class Difference(NamedTuple):
    """The first entry that two steps do not share. `cause` is path, shape, constant or number."""

    cause: str
    site: Site | None
    operator: str
    before: str
    now: str


def _described(value: Any, shapes: list[Any]) -> Any:
    """A value without the tensors in it, whose shapes and types are added to `shapes`."""
    if isinstance(value, torch.Tensor):
        shapes.append((value.shape, value.dtype))
        return None
    if isinstance(value, list | tuple):
        return tuple([_described(item, shapes) for item in value])
    return value


@cache
def _scalars(func: Any) -> tuple[frozenset[int], frozenset[str]]:
    """Positions and names of the parameters of type Scalar."""
    found = [(i, a.name) for i, a in enumerate(func._schema.arguments) if "number" in str(a.type).lower()]
    return frozenset(i for i, _ in found), frozenset(name for _, name in found)


def entry(func: Any, site: Site | None, args: Sequence[Any], kwargs: dict[str, Any]) -> Entry:
    positions, names = _scalars(func)
    shapes: list[Any] = []
    baked: list[Any] = []
    lifted: list[Any] = []
    for i, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            shapes.append((value.shape, value.dtype))
        elif i in positions:
            lifted.append(value)
        else:
            baked.append(_described(value, shapes))
    for name, value in kwargs.items():
        (lifted if name in names else baked).append(_described(value, shapes))
    return Entry(func, site, shapes, baked, lifted)


class Log:
    """All operators in order. A window is what came between two times that the same line ran a graph;
    the first holds what was done before the loop, so the second and the third are the first compared."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.dropped = 0
        self.ends: dict[Site | None, int] = {}
        self.windows: dict[Site | None, list[Entry]] = {}

    def add(self, func: Any, site: Site | None, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        if len(self.entries) >= 2 * LONGEST:
            self.dropped += LONGEST
            del self.entries[:LONGEST]
        self.entries.append(entry(func, site, args, kwargs))

    def since_last(self, site: Site | None) -> Difference | None:
        """Ends the window of `site`; how it differs from the one before, None if there was none."""
        end = self.dropped + len(self.entries)
        start = self.ends.get(site)
        self.ends[site] = end
        if start is None or start < self.dropped:
            self.windows.pop(site, None)
            return None
        now = self.entries[start - self.dropped :]
        before, self.windows[site] = self.windows.get(site), now
        if before is None:
            return None
        return difference(before, now) or Difference("unknown", site, "", "", "")


def _first(before: Sequence[Entry], now: Sequence[Entry], same: Callable[[Entry, Entry], bool]) -> int | None:
    for i, (a, b) in enumerate(zip(before, now, strict=False)):
        if not same(a, b):
            return i
    return None


def difference(before: Sequence[Entry], now: Sequence[Entry]) -> Difference | None:
    """Where `now` leaves `before`. Numbers count only if nothing else differs."""
    at = _first(before, now, lambda a, b: a[:4] == b[:4])
    if at is not None:
        old, new = before[at], now[at]
        name = str(new.operator)
        if old.operator is not new.operator or old.site != new.site:
            return Difference("path", new.site, name, str(old.operator), name)
        if old.shapes != new.shapes:
            return Difference("shape", new.site, name, _shown(old.shapes), _shown(new.shapes))
        return Difference("constant", new.site, name, _shown(old.baked), _shown(new.baked))
    if len(before) != len(now):
        extra = max(before, now, key=len)[min(len(before), len(now))]
        return Difference("path", extra.site, str(extra.operator), f"{len(before)} operators", f"{len(now)}")
    at = _first(before, now, lambda a, b: a.lifted == b.lifted)
    if at is not None:
        old, new = before[at], now[at]
        return Difference("number", new.site, str(new.operator), _shown(old.lifted), _shown(new.lifted))
    return None


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(map(_one, values))[:80]


def _one(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], torch.Size):
        return "x".join(map(str, value[0])) or "scalar"
    return str(value)
