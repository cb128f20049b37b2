"""Log the graph, operator by operator, so that two steps can be compared.

XLA compiles again when the graph differs from every earlier one. Its hash does not say where; the
list of operators with shapes and constants does, and each has its line.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from .frames import Site
from .value_shapes import MASKS

LONGEST = 200_000  # operators that are remembered at least
RECENT = 8  # windows of a line


class Entry(NamedTuple):
    """`lifted` holds numbers that torch_xla passes as inputs of the graph, except some; `sources` the
    numbers of the entries that made its tensors, -1 where none did."""

    operator: Any
    site: Site | None
    shapes: list[Any]
    baked: list[Any]
    lifted: list[Any]
    sources: list[int]


class Difference(NamedTuple):
    """The first entry that two windows do not share. `cause` is path, shape, constant or number; mask, if
    all are alike and one writes at a mask; source, if it uses other results; kept, if its result outlives
    one of the two graphs only. With `within`, both windows belong to one step."""

    cause: str
    site: Site | None
    operator: str
    before: str
    now: str
    within: bool = False


def _describe_entry(value: Any, shapes: list[Any]) -> Any:
    """A value without the tensors in it, whose shapes and types are added to `shapes`."""
    if isinstance(value, torch.Tensor):
        shapes.append((value.shape, value.dtype))
        return None
    if isinstance(value, list | tuple):
        return tuple([_describe_entry(item, shapes) for item in value])
    return value


@cache
def _scalars(func: Any) -> tuple[frozenset[int | str], frozenset[int | str]]:
    """Positions and names of the parameters of type Scalar, and of those that are one tensor."""
    arguments = [(i, a.name, str(a.type)) for i, a in enumerate(func._schema.arguments)]
    return tuple(
        frozenset(key for i, name, kind in arguments if part in kind.lower() for key in (i, name))
        for part in ("number", "tensor")
    )  # type: ignore[return-value]


def entry(
    func: Any, site: Site | None, args: Sequence[Any], kwargs: dict[str, Any], made: Mapping[int, int]
) -> Entry:
    scalars, tensors = _scalars(func)
    shapes: list[Any] = []
    baked: list[Any] = []
    lifted: list[Any] = []
    sources: list[int] = []
    for key, value in (*enumerate(args), *kwargs.items()):
        if isinstance(value, torch.Tensor):
            shapes.append((value.shape, value.dtype))
            sources.append(made.get(id(value), -1))
        elif key in scalars or (key in tensors and isinstance(value, int | float)):  # as in `x / 3`
            lifted.append(value)
        else:
            baked.append(_describe_entry(value, shapes))
    return Entry(func, site, shapes, baked, lifted, sources)


def _writes_at_mask(at: Entry) -> bool:
    """Return whether so many elements are written as a mask holds, which no shape shows."""
    name = at.operator.name()
    return "index_put" in name and any(dtype in MASKS for _, dtype in at.shapes[1:])


class Window(NamedTuple):
    """The entries before a graph was run, the number of the first, and the places of those whose results
    were still alive then."""

    entries: Sequence[Entry]
    start: int
    alive: Sequence[int]


class Log:
    """All operators in order. A window is what came before a line ran a graph, since the end of the step
    before or since that line ran one last, and is compared with others of its kind. The first of a line
    holds what was done before the loop, and is left out."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.dropped = 0
        self.boundary = 0
        self.ends: dict[Site | None, int] = {}
        self.windows: dict[tuple[Site | None, bool], deque[Window]] = {}
        self.made: dict[int, int] = {}  # the number of the entry that made a tensor, by its id
        self.results: dict[int, weakref.ref[torch.Tensor]] = {}  # by number

    def add(
        self, func: Any, site: Site | None, args: Sequence[Any], kwargs: dict[str, Any], result: Any = None
    ) -> None:
        if len(self.entries) >= 2 * LONGEST:
            self.dropped += LONGEST
            del self.entries[:LONGEST]
        number = self.dropped + len(self.entries)
        self.entries.append(entry(func, site, args, kwargs, self.made))
        if isinstance(result, torch.Tensor):
            self._remember(result, number)

    def _remember(self, result: torch.Tensor, number: int) -> None:
        key = id(result)

        def gone(_: object) -> None:
            self.results.pop(number, None)
            if self.made.get(key) == number:
                del self.made[key]

        self.made[key] = number
        self.results[number] = weakref.ref(result, gone)

    def end_step(self) -> None:
        self.boundary = self.dropped + len(self.entries)

    def ran(self, site: Site | None, compiled: bool) -> Difference | None:
        """Ends the window of `site`; of a graph that was new, where it leaves the closest of those that
        the line ran before, None if there was none."""
        end = self.dropped + len(self.entries)
        last = self.ends.get(site)
        self.ends[site] = end
        start = max(last or 0, self.boundary)
        if last is None or start < self.dropped:
            return None
        entries = self.entries[start - self.dropped :]
        now = Window(entries, start, [i for i in range(len(entries)) if start + i in self.results])
        earlier = self.windows.setdefault((site, start == last), deque(maxlen=RECENT))
        found = _closest(earlier, now) if compiled and earlier else None
        earlier.append(now)
        if found is None:
            return None
        difference = found.difference or Difference("unknown", site, "", "", "")
        return difference._replace(within=last > self.boundary)


class _Parting(NamedTuple):
    """`shared` entries are alike in two windows."""

    shared: float
    difference: Difference | None


def _closest(earlier: Iterable[Window], now: Window) -> _Parting:
    """Return the parting that is left last; on a tie a shape or constant explains more than a path."""
    found = [_find_parting(before, now) for before in reversed(list(earlier))]
    return max(found, key=lambda f: (f.shared, f.difference is None or f.difference.cause != "path"))


def _first(before: Sequence[Entry], now: Sequence[Entry], same: Callable[[Entry, Entry], bool]) -> int | None:
    for i, (a, b) in enumerate(zip(before, now, strict=False)):
        if not same(a, b):
            return i
    return None


def _find_parting(earlier: Window, later: Window) -> _Parting:
    """Where `later` leaves `earlier`. Numbers count only if nothing else differs."""
    before, now = earlier.entries, later.entries
    at = _first(before, now, lambda a, b: a[:4] == b[:4])
    if at is not None:
        old, new = before[at], now[at]
        name = str(new.operator)
        if old.operator is not new.operator or old.site != new.site:
            return _Parting(at, Difference("path", new.site, name, str(old.operator), name))
        if old.shapes != new.shapes:
            return _Parting(
                at, Difference("shape", new.site, name, _show_value(old.shapes), _show_value(new.shapes))
            )
        return _Parting(
            at, Difference("constant", new.site, name, _show_value(old.baked), _show_value(new.baked))
        )
    if len(before) != len(now):
        at = min(len(before), len(now))
        extra = max(before, now, key=len)[at]
        sizes = f"{len(before)} operators", f"{len(now)}"
        return _Parting(at, Difference("path", extra.site, str(extra.operator), *sizes))
    flow = _other_source(earlier, later)
    if flow is not None:
        return flow
    masked = next((one for one in now if _writes_at_mask(one)), None)
    if masked is not None:
        return _Parting(len(now), Difference("mask", masked.site, str(masked.operator), "", ""))
    at = _first(before, now, lambda a, b: a.lifted == b.lifted)
    if at is None:
        return _other_survivor(earlier, later) or _Parting(math.inf, None)
    old, new = before[at], now[at]
    shown = _show_value(old.lifted), _show_value(new.lifted)
    return _Parting(len(now), Difference("number", new.site, str(new.operator), *shown))


def _other_source(earlier: Window, later: Window) -> _Parting | None:
    """The first operator that uses another result than before."""
    for i, (old, new) in enumerate(zip(earlier.entries, later.entries, strict=True)):
        ours = [_relative(number, earlier) for number in old.sources]
        theirs = [_relative(number, later) for number in new.sources]
        if ours != theirs:
            at = next(j for j, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            told = (_maker(ours[at], earlier), _maker(theirs[at], later))
            return _Parting(i, Difference("source", new.site, str(new.operator), *told))
    return None


def _relative(number: int, window: Window) -> int:
    """From the window's start; what was made before is an input like any other."""
    return max(-1, number - window.start)


def _maker(place: int, window: Window) -> str:
    return "an input" if place < 0 else f"a result of {window.entries[place].operator}"


def _other_survivor(earlier: Window, later: Window) -> _Parting | None:
    """The first result that only one of two graphs has to return, since somebody still holds it."""
    changed = sorted(set(earlier.alive) ^ set(later.alive))
    if not changed:
        return None
    new = later.entries[changed[0]]
    told = ("dropped", "kept") if changed[0] in later.alive else ("kept", "dropped")
    return _Parting(len(later.entries), Difference("kept", new.site, str(new.operator), *told))


def _show_value(values: Sequence[Any]) -> str:
    return ", ".join(map(_one, values))[:80]


def _one(value: Any) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], torch.Size):
        return "x".join(map(str, value[0])) or "scalar"
    return str(value)
