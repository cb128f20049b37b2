"""Broken configuration, told in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import takewhile

_LIKE = 0.65  # how alike two words are, from 0 to 1
_PART = 0.8  # how alike a word and a name that it is a part of
_MOST = 3


class ConfigError(Exception):
    """A configuration that cannot be used; the message is one line for people."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x" or "y"?`, or nothing when no known word is close."""
    near = [f'"{name}"' for name in nearest(word, known)]
    return f"; did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?" if near else ""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that are most like a word, or hold it; case, `-` and `_` make no difference."""
    wanted = _plain(word)
    ranked = sorted(
        (-_likeness(wanted, _plain(name)), -_shared_prefix(wanted, _plain(name)), name)
        for name in dict.fromkeys(known)
    )
    best = ranked[0][0] if ranked else 0
    close = [rank for rank in ranked if rank[0] <= -_LIKE and rank[0] == best]
    longest = min((rank[1] for rank in close), default=0)
    return [name for _, prefix, name in close if prefix == longest or best == -_PART][:_MOST]


def _likeness(wanted: str, name: str) -> float:
    if len(wanted) > 2 and wanted in name.split("-"):
        return max(_PART, SequenceMatcher(None, wanted, name).ratio())
    return SequenceMatcher(None, wanted, name).ratio()


def _shared_prefix(one: str, other: str) -> int:
    """How many letters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _plain(word: str) -> str:
    return word.lower().replace("_", "-")
