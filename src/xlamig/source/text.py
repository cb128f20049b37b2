"""The decoded text of one file, and the only place that turns offsets into locations."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from xlamig.findings import Location, Range
from xlamig.source.kinds import Kind

# Python ends a line here and nowhere else: a form feed or U+2028 is part of its line.
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class SourceText:
    """`text` has its newlines as they are in the file and no byte order mark.

    `exact` is False when `encode()` does not give the file's own bytes back, as some stateful
    encodings allow; such a file may be read, never written. `kind` is that of a file that is not Python.
    """

    filename: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    exact: bool = True
    kind: Kind | None = None  # None: Python

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    @property
    def rows(self) -> int:
        """Number of lines; a last line without a newline counts, an empty one does not."""
        starts = self._starts
        return len(starts) - (starts[-1] == len(self.text))

    def locate(self, offset: int) -> Location:
        """Row and column of `offset`; the end of the text is a valid offset."""
        if not 0 <= offset <= len(self.text):
            raise ValueError(f"offset {offset} is outside {self.filename}")
        row = bisect_right(self._starts, offset)
        return Location(row, offset - self._starts[row - 1] + 1)

    def offset(self, location: Location) -> int:
        """The inverse of `locate`."""
        return self._starts[location.row - 1] + location.column - 1

    def range(self, start: int, end: int) -> Range:
        return Range(start, end, self.locate(start), self.locate(end))

    def cell_at(self, offset: int) -> int | None:
        """The number of a notebook's cell; None in any other file."""
        return None

    def for_reading(self) -> SourceText:
        """Without what only writing the file needs."""
        return self

    def line(self, row: int) -> str:
        """The text of a row without its newline."""
        start, end = self.line_span(row)
        return self.text[start:end].rstrip("\r\n")

    def line_span(self, row: int) -> tuple[int, int]:
        """Where a row starts and ends, its newline included."""
        starts = self._starts
        if not 1 <= row <= len(starts):
            raise ValueError(f"{self.filename} has no row {row}")
        return starts[row - 1], starts[row] if row < len(starts) else len(self.text)

    @property
    def content(self) -> str:
        """Return the content of the file: for a notebook its JSON, else the text itself."""
        return self.text

    def encode(self) -> bytes:
        data = self.text.encode(self.encoding)
        return codecs.BOM_UTF8 + data if self.bom else data
