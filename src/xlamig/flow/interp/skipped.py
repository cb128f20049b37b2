"""The branches that constants given by all calls so far leave out: they run in the end, for a caller that
gives other values."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlamig.flow.interp.domain import MISSING, AbstractValue, Mark

_Way = tuple[int, bool]  # the offset of an `if` and the outcome of its test


@dataclass(slots=True)
class SkippedBranches:
    """The branches that ran, and those that constants left out."""

    _taken: set[_Way] = field(default_factory=set)
    _skipped: dict[int, set[_Way]] = field(
        default_factory=dict
    )  # by function, the identity of its definition

    def take(self, start: int, outcome: bool | None) -> None:
        """Note the branch of an `if` that runs; both for None."""
        self._taken.update(((start, True), (start, False)) if outcome is None else ((start, outcome),))

    def skip(self, start: int, outcome: bool, function: int) -> None:
        """Note that a constant argument of a function leaves out this branch."""
        self._skipped.setdefault(function, set()).add((start, outcome))

    def by(self, function: int) -> bool:
        """Return whether no call of a function ran one of its branches."""
        return not self._skipped.get(function, set()) <= self._taken


def with_any_constant(thing: AbstractValue) -> AbstractValue:
    """Return what a parameter holds in calls with other constants. A loader is then another one: the code for
    training, which calls with the evaluation's constants leave out, takes no batches of theirs."""
    if thing.kind == "mapping":
        return thing.replace(loose=True)
    if thing.trait is Mark.PARTIAL:
        return thing.replace(trait=None, ref=None)
    return thing.replace(const=MISSING) if thing.kind in ("bool", "number", "text") else thing
