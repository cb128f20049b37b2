"""Values that most runs of an unchanged or hardly changed program never look at."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from xlamig.engine.cache import digest

Value = TypeVar("Value")


class Packed(Generic[Value]):
    """A value that comes from the cache pickled and stays so until it is asked for. `seal` is its digest."""

    __slots__ = ("_data", "_value", "seal")

    def __init__(self, value: Value) -> None:
        self.seal = digest(value)
        self._value: Value | None = value
        self._data = b""

    def get(self) -> Value:
        """Return the value, which is never None."""
        if self._value is None:
            self._value, self._data = pickle.loads(self._data), b""
        return cast("Value", self._value)

    def __reduce__(self) -> tuple[Callable[[str, bytes], Packed[Value]], tuple[str, bytes]]:
        return _packed, (self.seal, self._data or pickle.dumps(self._value, 5))


def _packed(seal: str, data: bytes) -> Packed[Value]:
    made: Packed[Value] = Packed.__new__(Packed)
    made.seal, made._data, made._value = seal, data, None
    return made
