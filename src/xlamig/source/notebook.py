"""A Jupyter notebook as one module: its Python cells in order, each below a line that marks it.

Only the text of changed cells is ever written; all other bytes of the file stay.
https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from xlamig.findings import Location, Range
from xlamig.source.jsonspans import NotJson, cell_sources
from xlamig.source.magics import is_python, put_aside, put_back
from xlamig.source.python import parses
from xlamig.source.text import SourceText

SUFFIX = ".ipynb"

_MARK = re.compile(r"^# %% \[xlamig cell (\d+)\]\n", re.MULTILINE)
_NO_NEWLINE = re.compile(r"[^\r\n]")


class NotANotebook(Exception):
    """`location` is the place in the JSON text."""

    def __init__(self, message: str, location: Location) -> None:
        super().__init__(message)
        self.message = message
        self.location = location


@dataclass(frozen=True, slots=True)
class Cell:
    """`number` counts all cells from 1; `start:end` is its "source" in the JSON."""

    number: int
    source: str
    start: int
    end: int


@dataclass(frozen=True)
class NotebookText(SourceText):
    """`text` is the module; `raw` the JSON it came from; `magics` the lines that are no Python."""

    raw: str = ""
    cells: tuple[Cell, ...] = ()
    magics: tuple[str, ...] = ()

    @cached_property
    def _marks(self) -> list[tuple[int, int]]:
        """(row of the mark, number of the cell), in order."""
        return [(self.locate(mark.start()).row, int(mark[1])) for mark in _MARK.finditer(self.text)]

    def range(self, start: int, end: int) -> Range:
        """With locations inside the cell."""
        return Range(start, end, self._inside(start), self._inside(end))

    def _inside(self, offset: int) -> Location:
        location = self.locate(offset)
        row = location.row - (self._mark(location.row) or (0, 0))[0]
        return Location(max(row, 1), location.column if row > 0 else 1)

    def cell_at(self, offset: int) -> int | None:
        mark = self._mark(self.locate(offset).row)
        return mark[1] if mark else None

    def for_reading(self) -> SourceText:
        return replace(self, raw="", cells=(), magics=())

    def _mark(self, row: int) -> tuple[int, int] | None:
        """The mark above a row; what stands above all belongs to the first cell."""
        marks = self._marks
        if not marks:
            return None
        return marks[max(0, bisect_right(marks, (row, 1 << 62)) - 1)]

    def encode(self) -> bytes:
        return self.content.encode("utf-8")

    @property
    def content(self) -> str:
        texts = _split(self.text)
        pieces: list[str] = []
        done = 0
        for cell in self.cells:
            new = put_back(texts.get(cell.number, cell.source), self.magics)
            if not cell.source.endswith("\n"):
                new = new.removesuffix("\n")
            if new != cell.source and cell.number in texts:
                pieces += (
                    self.raw[done : cell.start],
                    _dump_value(new, self.raw[cell.start : cell.end], self.raw),
                )
                done = cell.end
        return "".join((*pieces, self.raw[done:]))


def read_notebook(data: bytes, filename: str) -> NotebookText:
    """Raises NotANotebook for anything that has no cells."""
    try:
        raw = data.decode("utf-8")
        document = json.loads(raw)
        sources = cell_sources(raw)
    except UnicodeDecodeError as error:
        raise NotANotebook(f"byte 0x{data[error.start]:02x} is not utf-8", Location(1, 1)) from None
    except json.JSONDecodeError as error:
        raise NotANotebook(f"invalid JSON ({error.msg})", Location(error.lineno, error.colno)) from None
    except (NotJson, RecursionError):
        raise NotANotebook("no notebook: it has no list of cells", Location(1, 1)) from None
    if not _speaks_python(document):
        return NotebookText(filename, "", raw=raw)
    kept: list[str] = []
    text: list[str] = []
    cells: list[Cell] = []
    for number, cell in enumerate(document["cells"], 1):
        source = _text(cell.get("source"))
        span = sources[number - 1]
        if cell.get("cell_type") != "code" or source is None or span is None or not is_python(source):
            continue
        cells.append(Cell(number, source, *span))
        body = put_aside(source, kept)
        text.append(f"# %% [xlamig cell {number}]\n{body}" + ("" if body.endswith("\n") else "\n"))
    exact = "[xlamig " not in raw  # a mark of ours would be taken for a real one
    return NotebookText(filename, "".join(text), exact=exact, raw=raw, cells=tuple(cells), magics=tuple(kept))


def readable_cells(text: str) -> str | None:
    """The module without its cells that are no Python, which become blank lines: each offset stays. None
    where no cell of a notebook is left."""
    spans = [(start, end) for _, start, end in _bodies(text)]
    broken = [(start, end) for start, end in spans if not parses(text[start:end])]
    if len(broken) == len(spans):
        return None
    for start, end in broken:
        text = text[:start] + _NO_NEWLINE.sub(" ", text[start:end]) + text[end:]
    return text


def _speaks_python(document: dict[str, object]) -> bool:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return True
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        value = metadata.get(key)
        if isinstance(value, dict) and isinstance(value.get(name), str):
            return "python" in value[name].lower()
    return True


def _text(source: object) -> str | None:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _bodies(text: str) -> list[tuple[int, int, int]]:
    """The number of each cell, and where the text below its mark starts and ends."""
    marks = list(_MARK.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    return [(int(mark[1]), mark.end(), end) for mark, end in zip(marks, starts[1:], strict=True)]


def _split(text: str) -> dict[int, str]:
    """The text of each cell; what stands above the first mark goes to the first cell."""
    first = _MARK.search(text)
    if first is None:
        return {}
    texts = {number: text[start:end] for number, start, end in _bodies(text)}
    above = text[: first.start()]
    if above:
        number = int(first[1])
        texts[number] = _below_cell_magic(above, texts[number])
    return texts


def _below_cell_magic(above: str, cell: str) -> str:
    """A cell magic has to stay the first line."""
    line, newline, rest = cell.partition("\n")
    if line.startswith("pass  # [xlamig magic "):
        return line + newline + above + rest
    return above + cell


def _dump_value(source: str, old: str, raw: str) -> str:
    """`source` as JSON in the manner of `old`, the value it replaces."""
    ascii_only = raw.isascii() and "\\u" in raw
    if not old.startswith("["):
        return json.dumps(source, ensure_ascii=ascii_only)
    lines = [json.dumps(line, ensure_ascii=ascii_only) for line in source.splitlines(keepends=True)]
    lead = re.match(r"\[(\s*)", old)
    tail = re.search(r"(\s*)\]$", old)
    before, after = (lead[1], tail[1]) if lead and tail and len(old) > 2 else ("", "")
    return f"[{before}{(',' + (before or ' ')).join(lines)}{after}]" if lines else "[]"
