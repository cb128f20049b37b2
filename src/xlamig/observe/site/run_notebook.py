"""Runs the cells of a notebook one after another in `__main__`: `python run_notebook.py CELLS`."""

from __future__ import annotations

import builtins
import json
import linecache
import sys
from pathlib import Path


def run(cells: str) -> None:
    """`cells` is a JSON file with the name and the text of each cell."""
    content = json.loads(Path(cells).read_text(encoding="utf-8"))
    sys.argv = sys.argv[1:]
    folder = str(Path(content[0][0]).resolve().parent) if content else ""
    sys.path[:1] = [folder]
    scope = sys.modules["__main__"].__dict__
    builtins.display = print  # type: ignore[attr-defined]
    for name, text in content:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), scope)


if __name__ == "__main__":
    run(sys.argv[1])
