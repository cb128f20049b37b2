"""Lines of a text around offsets. Python ends a line at CR, LF or both, and nowhere else."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n?|\n")


def line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_end(text: str, offset: int) -> int:
    """Where the newline of the line at `offset` stands."""
    found = _LINE_END.search(text, offset)
    return found.start() if found else len(text)


def split_lines(text: str) -> list[str]:
    return _LINE_END.split(text)
