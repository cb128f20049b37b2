"""Fields that have another value for the length of a block."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from xlamig.findings import Frequency
from xlamig.flow.interp.events import FREQUENCIES

T = TypeVar("T")


class HasFrequency(Protocol):
    """An object that knows how often the current statement runs, and whether only some iterations do."""

    frequency: Frequency
    seldom: bool


class Setting(Generic[T]):
    """While it lasts, a field of an object has another value."""

    # Entered for each branch of the program: a generator's context manager takes four times as long.
    __slots__ = ("before", "name", "state", "value")

    def __init__(self, state: object, name: str, value: T) -> None:
        self.state, self.name, self.value = state, name, value

    def __enter__(self) -> T:
        self.before = getattr(self.state, self.name)
        setattr(self.state, self.name, self.value)
        return self.value

    def __exit__(self, *_: object) -> None:
        setattr(self.state, self.name, self.before)


class Rarer:
    """While it lasts, code runs in some steps or iterations only, if `lowers`."""

    __slots__ = ("before", "lowers", "state")

    def __init__(self, state: HasFrequency, lowers: bool) -> None:
        self.state, self.lowers = state, lowers

    def __enter__(self) -> None:
        self.before = self.state.frequency, self.state.seldom
        self.lower()

    def lower(self) -> None:
        """Lower the frequency until whoever asked for it sets it again."""
        if self.lowers:
            self.state.seldom = True
            if self.state.frequency == "step":
                self.state.frequency = "interval"

    def __exit__(self, *_: object) -> None:
        self.state.frequency, self.state.seldom = self.before


class AtMost:
    """While it lasts, code runs no more often than `often`, if that is known."""

    __slots__ = ("before", "often", "state")

    def __init__(self, state: HasFrequency, often: Frequency | None) -> None:
        self.state, self.often = state, often

    def __enter__(self) -> None:
        self.before = self.state.frequency
        if self.often is not None:
            self.state.frequency = min(self.before, self.often, key=FREQUENCIES.index)

    def __exit__(self, *_: object) -> None:
        self.state.frequency = self.before
