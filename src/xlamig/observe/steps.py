"""Which steps the program took, what one costs, and how often something happens."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from xlamig.observations import Cost, Frequency

WARM_UP = 2
ENOUGH = 4  # steps, before one may speak of a steady state
NEARLY_ALL = 0.9

Boundary = Sequence[int]
"""Number of the place, depth of the stack, then compilations, executions, reads since the start."""


class Steps:
    """The step loop is where most boundaries are; of two, the outer one, then the later one."""

    def __init__(self, boundaries: Sequence[Boundary]) -> None:
        counts = Counter(boundary[0] for boundary in boundaries)
        depths = {boundary[0]: boundary[1] for boundary in boundaries}
        order = {boundary[0]: i for i, boundary in enumerate(boundaries)}
        self.place = max(counts, key=lambda p: (counts[p], -depths[p], order[p])) if counts else None
        self.ends = [i for i, boundary in enumerate(boundaries) if boundary[0] == self.place]
        self.count = len(self.ends)
        totals = [(0, 0, 0), *(tuple(boundaries[i][2:5]) for i in self.ends)]
        self.costs = [
            Cost(*(max(0, now - then) for now, then in zip(after, before, strict=True)))
            for before, after in pairwise(totals)
        ]

    @property
    def steady(self) -> Cost | None:
        """The median of the later half, None for a program that is too short to tell."""
        if self.count < ENOUGH:
            return None
        late = self.costs[max(WARM_UP, self.count // 2) :]
        return Cost(
            *(
                median(getattr(cost, name) for cost in late)
                for name in ("compiles", "executions", "device_to_host")
            )
        )

    def of(self, windows: Iterable[Sequence[int]]) -> list[int]:
        """The steps in which something happened, from [first, last] boundaries that it came before."""
        found: set[int] = set()
        for first, last in windows:
            found.update(range(bisect_left(self.ends, first), bisect_left(self.ends, last) + 1))
        return sorted(found)

    def frequency(self, seen: Sequence[int]) -> Frequency:
        if len(seen) <= 1:
            return "once"
        if seen[-1] < WARM_UP:
            return "warm-up"
        possible = max(1, self.count - seen[0])
        return "step" if len(seen) >= NEARLY_ALL * possible else "interval"
