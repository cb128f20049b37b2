"""The statements of a file, named by a hash of their text: no source is stored, no line number needed."""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A statement: the hash of its text, and which of the equal statements of its file it is, from 0."""

    digest: str
    number: int


class Places:
    """The places of one Python source, notebook cell or text file, by row (from 1)."""

    def __init__(self, text: str, python: bool) -> None:
        self.rows = text.splitlines()
        spans = sorted({*_statements(text)}) if python else []
        inside = [row for start, end in spans for row in range(start, end + 1)]
        lines = set(range(1, len(self.rows) + 1)).difference(inside)
        spans = sorted([*spans, *((row, row) for row in lines)])
        self.starts = [start for start, _ in spans]
        self.places = []
        seen: Counter[str] = Counter()
        for start, end in spans:
            digest = _digest(" ".join(self.rows[start - 1 : end]))
            self.places.append(Place(digest, seen[digest]))
            seen[digest] += 1

    def at(self, row: int) -> Place:
        """Return the innermost statement that holds a row."""
        index = bisect_right(self.starts, row) - 1
        return self.places[index] if index >= 0 else Place(_digest(""), 0)


class Sources:
    """The places of the files of a folder, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[tuple[str, int | None], Places] = {}

    def at(self, path: str, cell: int | None, row: int) -> Place:
        """Return the statement at a row of a file, or of a cell of a notebook (from 1)."""
        key = (path, cell)
        if key not in self._known:
            self._known[key] = Places(self.text(path, cell), python=path.endswith((".py", ".ipynb")))
        return self._known[key].at(row)

    def text(self, path: str, cell: int | None) -> str:
        """Return the text of a file or a cell; that of a file that is not there is empty."""
        file = self.folder / path
        text = file.read_text("utf-8", errors="replace") if file.exists() else ""
        if cell is None or not text:
            return text
        cells = json.loads(text).get("cells", [])
        return "".join(cells[cell - 1].get("source", "")) if cell <= len(cells) else ""


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each statement; of a compound statement those of its head."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            start, body = _first_row(node), getattr(node, "body", None)
            yield start, max(start, _first_row(body[0]) - 1) if body else node.end_lineno or start


def _first_row(node: ast.stmt | ast.ExceptHandler) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
