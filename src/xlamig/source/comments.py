"""The comments of a file, each with the logical line it belongs to."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace

from xlamig.findings import Location
from xlamig.source.text import SourceText

_LINE_END = re.compile(r"\r\n?|\n")
_COMMENT = re.compile(r"#\s*(?:xlamig:|noqa\b).*", re.IGNORECASE)
_NATIVE_COMMENT = re.compile(r"(?://|/\*)\s*(?:xlamig:|noqa\b).*", re.IGNORECASE)
_NO_ROWS = (0, 0)
_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True, slots=True)
class Comment:
    """`rows` are those of its logical line or, when `alone` between two, of the next; (0, 0) if
    there is none."""

    start: int
    end: int
    rows: tuple[int, int]
    alone: bool  # nothing else on its physical line
    between: bool  # outside any logical line


def comments(source: SourceText) -> Iterator[Comment]:
    """Every comment; raises SyntaxError or tokenize.TokenError for text that is no Python."""
    # tokenize knows no lone carriage return; rows and columns stay the same without it.
    text = _LINE_END.sub("\n", source.text)
    waiting: list[Comment] = []
    first = 0  # row where the current logical line starts, 0 between two
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            start = source.offset(Location(row, column + 1))
            alone = not token.line[:column].strip()
            waiting.append(Comment(start, start + len(token.string), _NO_ROWS, alone, between=not first))
        elif token.type == tokenize.NEWLINE:
            rows = (first or row, row)
            yield from (replace(comment, rows=rows) for comment in waiting)
            waiting, first = [], 0
        elif token.type not in _LAYOUT and not first:
            first = row
    yield from waiting


def scan(source: SourceText) -> Iterator[Comment]:
    """A guess by single lines, for text that does not tokenize or is not Python."""
    comment = _NATIVE_COMMENT if source.kind == "native" else _COMMENT
    for row in range(1, source.rows + 1):
        line = source.line(row)
        match = comment.search(line)
        if match:
            alone = not line[: match.start()].strip()
            start = source.line_span(row)[0] + match.start()
            first = row + alone
            rows = (first, first if source.kind is None else last_row(source, first))
            yield Comment(start, start + len(match[0]), rows, alone, between=alone)


def last_row(source: SourceText, row: int) -> int:
    """The last row of a line that is continued with a backslash."""
    while row < source.rows and source.line(row).endswith("\\"):
        row += 1
    return row
