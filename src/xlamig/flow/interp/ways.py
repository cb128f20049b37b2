"""Events of one of several alternatives, such as the constructors of which a program calls one."""

from __future__ import annotations

from collections.abc import Hashable

from xlamig.flow.interp.state import State


class Ways:
    def __init__(self, state: State) -> None:
        self.m = state
        self._taken: dict[Hashable, dict[tuple[int, int], int]] = {}

    def note(self, what: Hashable) -> None:
        """Remember the alternatives in which something happens; what happens in several is in none."""
        now, known = self.m.ways, self._taken.get(what)
        self._taken[what] = dict(now) if known is None else dict(known.items() & now.items())

    def excluded(self, what: Hashable) -> bool:
        """Return whether something happened only in another alternative than the one that runs."""
        now = self.m.ways
        return any(now.get(run, way) != way for run, way in self._taken.get(what, {}).items())
