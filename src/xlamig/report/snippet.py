"""The source lines of a place, with carets under it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.findings import Range
from xlamig.report.context import Context
from xlamig.report.lines import line_end, line_start, split_lines

MAX_LINES = 4
MAX_WIDTH = 160
_LEAD = 40  # columns kept in front of the place when a line is cut
_TAB = "    "


def snippet(text: str, place: Range, context: Context) -> Iterator[str]:
    """Nothing when the text is no longer the one that was checked."""
    if place.end > len(text):
        return
    start = line_start(text, place.start)
    block = text[start : line_end(text, max(place.start, place.end - 1))]
    lines = split_lines(block)
    labels = len(str(place.end_location.row))
    bar = context.paint("gutter", "|")
    yield f"{'':{labels}} {bar}"
    offset = start
    for index, line in enumerate(lines[:MAX_LINES]):
        first = max(place.start - offset, 0) if index == 0 else len(line) - len(line.lstrip())
        last = min(place.end - offset, len(line))
        shown, carets = _underline(line, first, max(last, first + 1))
        row = context.paint("gutter", f"{place.location.row + index:>{labels}}")
        yield f"{row} {bar} {shown}".rstrip()
        if line.strip():
            yield f"{'':{labels}} {bar} {carets}"
        offset += len(line) + _newline_length(text, offset + len(line))
    if len(lines) > MAX_LINES:
        yield f"{'':{labels}} {bar} ... {len(lines) - MAX_LINES} more lines"


def _newline_length(text: str, offset: int) -> int:
    return 2 if text.startswith("\r\n", offset) else 1


def _underline(line: str, first: int, last: int) -> tuple[str, str]:
    """The line as a terminal shows it, and carets under code points `first` to `last`."""
    cut = max(0, first - _LEAD) if len(line) > MAX_WIDTH else 0
    shown, carets = ("...", "   ") if cut else ("", "")
    for index, char in enumerate(line[cut : cut + MAX_WIDTH], cut):
        cells = visible(char)
        shown += cells
        carets += ("^" if first <= index < last else " ") * _width(cells)
    if last > len(line):
        carets += "^"
    if len(line) > cut + MAX_WIDTH:
        shown += "..."
    return shown, carets.rstrip()


def visible(char: str) -> str:
    """The character, or what stands for one that would move or steer the terminal."""
    if char == "\t":
        return _TAB
    return char if char.isprintable() else "·"


def _width(cells: str) -> int:
    if cells.isascii():
        return len(cells)
    from rich.cells import cell_len  # only people with wide characters pay for the tables

    return cell_len(cells)
