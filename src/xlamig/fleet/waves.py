"""A programme in waves: what to port together, so that what others need comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlamig.fleet.ranking import Ranked


@dataclass(frozen=True, slots=True)
class Wave:
    """`saved` is the likely saving of its repositories, where their GPU hours are known."""

    number: int
    repositories: tuple[str, ...]
    hours: float
    saved: float


def waves(ranked: Sequence[Ranked], needs: Mapping[str, Sequence[str]], hours: float) -> list[Wave]:
    """The repositories in the order of their rank, what they need before them, those with verdict
    `blocked` last. A wave has at most so many hours, or one repository that alone has more."""
    found: list[Wave] = []
    together: list[Ranked] = []
    for one in _order_by_need(ranked, needs):
        if together and sum(other.likely_hours for other in together) + one.likely_hours > hours:
            found.append(_wave(len(found) + 1, together))
            together = []
        together.append(one)
    if together:
        found.append(_wave(len(found) + 1, together))
    return found


def _order_by_need(ranked: Sequence[Ranked], needs: Mapping[str, Sequence[str]]) -> Iterator[Ranked]:
    by_name = {one.name: one for one in ranked}
    done: set[str] = set()
    for one in sorted(ranked, key=lambda one: one.verdict == "blocked"):
        yield from _with_needed(one, by_name, needs, done)


def _with_needed(
    top: Ranked, by_name: Mapping[str, Ranked], needs: Mapping[str, Sequence[str]], done: set[str]
) -> Iterator[Ranked]:
    """Depth first, without recursion; repositories that need each other come in the order found."""
    waiting = [(top, False)]
    while waiting:
        one, needed_are_done = waiting.pop()
        if needed_are_done:
            yield one
        elif one.name not in done:
            done.add(one.name)
            waiting.append((one, True))
            needed = [by_name[name] for name in needs.get(one.name, ()) if name in by_name]
            waiting += [(other, False) for other in reversed(needed)]


def _wave(number: int, together: Sequence[Ranked]) -> Wave:
    saved = sum(max(0.0, one.saving.saved.likely) for one in together if one.saving)
    return Wave(number, tuple(one.name for one in together), sum(one.likely_hours for one in together), saved)
