"""Places in a text, from code points to the units that the client counts in, and back."""

from __future__ import annotations

import re
from typing import Literal

from lsprotocol import types

from xlamig.findings import Range
from xlamig.source.text import SourceText

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile(r"\r\n?|\n")


def units(text: str, encoding: Encoding) -> int:
    """The length of `text` in the client's units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def code_points(line: str, character: int, encoding: Encoding) -> int:
    """How many code points of `line` stand before a column of the client's; at most all of them."""
    if encoding == "utf-32" or line.isascii():
        return max(0, min(character, len(line)))
    passed = 0
    for column, char in enumerate(line):
        if passed >= character:
            return column
        passed += units(char, encoding)
    return len(line)


def to_range(place: Range, text: SourceText, encoding: Encoding) -> types.Range:
    """A place of a file, or of a notebook's cell, as the client counts."""
    start = _position(text, place.start, place.location.row, encoding)
    end = _position(text, place.end, place.end_location.row, encoding)
    return types.Range(start, end)


def _position(text: SourceText, offset: int, row: int, encoding: Encoding) -> types.Position:
    offset = min(offset, len(text.text))
    start = text.line_span(text.locate(offset).row)[0]
    return types.Position(row - 1, units(text.text[start:offset], encoding))


def offset_of(text: str, position: types.Position, encoding: Encoding) -> int:
    """The offset of a position. One outside the text is moved to the closest place inside it."""
    if position.line < 0:
        return 0
    start = 0
    for _ in range(position.line):
        end = _LINE_END.search(text, start)
        if end is None:
            return len(text)
        start = end.end()
    end = _LINE_END.search(text, start)
    line = text[start : end.start() if end else len(text)]
    return start + code_points(line, position.character, encoding)


def position_of(text: str, offset: int, encoding: Encoding) -> types.Position:
    """The inverse of `offset_of`."""
    row, start = 0, 0
    for end in _LINE_END.finditer(text, 0, offset):
        row, start = row + 1, end.end()
    return types.Position(row, units(text[start:offset], encoding))
