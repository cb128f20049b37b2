"""The calls of a function: the values that they give to its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xlamig.flow.model.option_codes import Codes

STARRED = "**"
"""The keyword, as it were, of a mapping whose keywords are not known."""

PASSED_ON = "*"
"""The keyword, as it were, of the positions that a function passes on."""
MOST_STARRED = 20  # parameters that `*args` may fill

_NONE: Codes = frozenset()


class Parameter(NamedTuple):
    """A parameter of a function: where a position stands for it, -1 for none, and the code of its default, ""
    if it has none."""

    name: str
    position: int
    default: str


class Calls(NamedTuple):
    """All calls of a name: the codes by position and by keyword, and of each call how many positions it fills
    and which keywords it gives."""

    positional: tuple[Codes, ...]
    keywords: Mapping[str, Codes]
    filled: frozenset[tuple[int, frozenset[str]]]

    def fill(self, position: int, name: str) -> bool:
        """Return whether every call gives a value to a parameter."""
        return all(0 <= position < count or name in keywords for count, keywords in self.filled)


def join_calls(one: Calls, other: Calls) -> Calls:
    """Return what two groups of calls of a name have in common."""
    longer, shorter = sorted((one.positional, other.positional), key=len, reverse=True)
    positional = (*(a | b for a, b in zip(longer, shorter, strict=False)), *longer[len(shorter) :])
    keywords = {
        name: one.keywords.get(name, _NONE) | other.keywords.get(name, _NONE)
        for name in (*one.keywords, *(name for name in other.keywords if name not in one.keywords))
    }
    return Calls(positional, keywords, one.filled | other.filled)
