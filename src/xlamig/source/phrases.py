"""Patterns of rare phrases: most texts hold none of their words, which is sooner found out."""

from __future__ import annotations

import re
from typing import NamedTuple


class Phrases(NamedTuple):
    """Each match of the pattern holds one of the words."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def are_in(self, text: str) -> bool:
        """Return whether the pattern matches somewhere."""
        return any(word in text for word in self.words) and self.pattern.search(text) is not None
