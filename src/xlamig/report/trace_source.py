"""The source lines of a page: as HTML, with places marked, and which of them are shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from markupsafe import Markup
from pygments import highlight
from pygments.filter import Filter
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer

from xlamig.observations import Spot
from xlamig.report.lines import split_lines

SHORT = 120  # lines of a file that is shown whole
AROUND = 5  # lines on either side of one with events
FOLDED = 2_000  # lines that a fold may hold
_COLOURED = 500_000  # code points of a file whose syntax is highlighted


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that are shown, folded away or, without `lines`, only counted."""

    first: int
    last: int
    lines: tuple[tuple[int, Markup], ...]
    folded: bool


def blocks(text: str, spots: Sequence[Spot], rows: Collection[int]) -> Iterator[Block]:
    """All of the text, in order; what lies around `rows` is shown."""
    lines = source_lines(text, spots)
    for first, last, shown in _ranges(len(lines), rows):
        kept = lines[first - 1 : last] if shown or last - first < FOLDED else []
        yield Block(first, last, tuple(enumerate(kept, first)), not shown)


def source_lines(text: str, spots: Iterable[Spot]) -> list[Markup]:
    """The lines as HTML. What is in a place has a class that ends in -Marked."""
    lines = ["".join(map(_visible, line)) for line in split_lines(text.removeprefix("\ufeff"))]
    if not lines[-1]:  # what follows the last newline is no line
        lines.pop()
    joined = "\n".join(lines)
    options = {"stripnl": False, "ensurenl": False}
    lexer: Lexer = PythonLexer(**options) if len(joined) <= _COLOURED else TextLexer(**options)
    lexer.add_filter(_Marks(_spans(lines, spots)))
    formatted = highlight(joined, lexer, HtmlFormatter(nowrap=True, classprefix="t-"))
    return list(map(Markup, formatted.split("\n")[: len(lines)]))


class _Marks(Filter):
    """Splits tokens where a place begins or ends, and gives those within a type of their own."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.bounds = sorted({bound for span in spans for bound in span})
        self.spans = spans

    def filter(self, lexer: Lexer | None, stream: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
        start = 0
        for kind, value in stream:
            end = start + len(value)
            inside = self.bounds[bisect_right(self.bounds, start) :]
            cuts = [start, *(bound for bound in inside if bound < end), end]
            for low, high in pairwise(cuts):
                marked = any(first <= low < last for first, last in self.spans)
                yield kind.Marked if marked else kind, value[low - start : high - start]
            start = end


def _spans(lines: Sequence[str], spots: Iterable[Spot]) -> list[tuple[int, int]]:
    """The places as offsets into the joined lines. One that is not there is left out."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + min(column - 1, len(lines[row - 1]))

    return [
        (offset(spot.row, spot.column), offset(spot.end_row, spot.end_column))
        for spot in spots
        if 1 <= spot.row <= spot.end_row <= len(lines)
    ]


def _ranges(count: int, rows: Collection[int]) -> Iterator[tuple[int, int, bool]]:
    """(first row, last row, whether shown), without gaps."""
    shown = range(1, count + 1)
    near = {r for row in rows for r in range(row - AROUND, row + AROUND + 1)} if count > SHORT else set(shown)
    start = 1
    for row in shown:
        if row == count or (row in near) != (row + 1 in near):
            yield start, row, row in near
            start = row + 1


def _visible(char: str) -> str:
    """Return the text with every invisible character as a dot, one code point for one."""
    return char if char.isprintable() or char == "\t" else "·"
