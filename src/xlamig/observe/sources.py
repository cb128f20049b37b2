"""The text of what ran, by the name under which Python compiled it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from xlamig.source.decode import Undecodable
from xlamig.source.magics import put_aside
from xlamig.source.notebook import NotANotebook, NotebookText, read_notebook
from xlamig.source.read import read_source

NOTEBOOK = ".ipynb"
_CELL = re.compile(rf"(.*{re.escape(NOTEBOOK)}):cell (\d+)")


def text_of(filename: str) -> str | None:
    """The source of a file, or of one cell (`a.ipynb:cell 3`); None for what cannot be read."""
    cell = _CELL.fullmatch(filename)
    try:
        if cell:
            return dict(cells_of(Path(cell[1]))).get(filename)
        return read_source(Path(filename).read_bytes(), filename).text
    except (OSError, ValueError, Undecodable, NotANotebook):
        return None


@lru_cache(maxsize=4)
def cells_of(path: Path) -> tuple[tuple[str, str], ...]:
    """The name and the Python of each code cell, magics left out; raises NotANotebook."""
    notebook: NotebookText = read_notebook(path.read_bytes(), str(path))
    return tuple((f"{path}:cell {cell.number}", put_aside(cell.source, [])) for cell in notebook.cells)
