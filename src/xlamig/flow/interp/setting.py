"""Fields that have another value for the length of a block."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


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
