"""How many jobs of a run are finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Progress:
    """Counts finished jobs and calls `show` with the number of finished jobs and of all."""

    show: Callable[[int, int], None] | None
    total: int = 0
    done: int = 0

    def begin(self, total: int) -> None:
        self.total, self.done = total, 0

    def advance(self, count: int) -> None:
        self.done += count
        if self.show is not None and count:
            self.show(self.done, self.total)
