"""The lines of a text by the offsets of its characters."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

_KEPT = 64  # texts


def row_of(text: str, offset: int) -> int:
    """Return the line, from 1, that holds the character at an offset."""
    return bisect_right(_starts(text), offset)


@lru_cache(maxsize=_KEPT)
def _starts(text: str) -> list[int]:
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
