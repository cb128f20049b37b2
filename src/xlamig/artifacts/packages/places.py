"""Where in a file a value stands that a parser without positions has read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xlamig.facts import Span


@dataclass(slots=True)
class Places:
    """Values are asked for in the order in which the parser met them; each is looked for below the
    last one of the same section, then anywhere in the section, then in the file."""

    text: str
    start: int = 0
    at: int = 0

    def section(self, header: str) -> None:
        """From here on below the line `[header]`, or the key of that name."""
        found = re.search(rf"^[ \t]*\[+\s*{_loose(header)}\s*\]+", self.text, re.MULTILINE)
        self.start = self.at = found.end() if found else 0

    def key(self, name: str) -> Span:
        """A key at the beginning of a line, or as in `name = "x"` of an inline table."""
        return self._find(rf"(?:^|(?<=[\{{,]))[ \t]*([\"']?{_loose(name)}[\"']?)[ \t]*[=:]")

    def value(self, text: str) -> Span:
        """A string in quotes."""
        plain = self._find(rf"[\"']({re.escape(text)})[\"']")
        return plain if plain[1] > plain[0] else self._find(rf"({re.escape(text[:12])})")

    def line(self, text: str) -> Span:
        """A value without quotes."""
        return self._find(rf"({re.escape(text)})")

    def _find(self, pattern: str) -> Span:
        search = re.compile(pattern, re.MULTILINE)
        for start in (self.at, self.start, 0):
            found = search.search(self.text, start)
            if found:
                self.at = found.end()
                return found.span(1)
        return self.start, self.start


def _loose(name: str) -> str:
    """A dotted name, each part of which may be quoted."""
    return r"\s*\.\s*".join(f"[\"']?{re.escape(part)}[\"']?" for part in name.split("."))
