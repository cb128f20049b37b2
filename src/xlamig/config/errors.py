"""Broken configuration, told in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ConfigError(Exception):
    """A configuration that cannot be used; the message is one line for people."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?`, or nothing when no known word is close."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""
