"""IPython's magics, put aside so that a cell is Python, and put back later.

Every line stays a line: a magic becomes a statement with a numbered comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlamig.source.python import parses

# Cell magics below whose line the cell is still Python of this notebook.
PYTHON_CELLS = frozenset({"capture", "debug", "prun", "time", "timeit", "memit", "mprun", "lprun"})

# Line magics and aliases that IPython runs without a "%" ("automagic"), if the line is no Python.
_AUTOMAGICS = frozenset(
    {
        "alias", "autoreload", "bookmark", "cat", "cd", "clear", "colors", "conda", "config", "cp", "dirs",
        "env", "history", "ldir", "less", "lf", "lk", "ll", "load", "load_ext", "ls", "lx", "mamba", "man",
        "matplotlib", "micromamba", "mkdir", "more", "mv", "pip", "popd", "precision", "prun", "pushd", "pwd",
        "pylab", "reload_ext", "rm", "rmdir", "run", "set_env", "system", "time", "timeit", "unalias", "uv",
        "who", "whos", "xmode",
    }
)  # fmt: skip

_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_MAGIC = re.compile(r"(?P<indent>[ \t]*)(?:[!%?]|[\w.]+\?{1,2}[ \t]*$)")
_ASSIGNED = re.compile(r"(?P<left>[ \t]*[^=!%'\"#()]+=[ \t]*)[!%]\w")
_WORD = re.compile(r"(?P<indent>[ \t]*)(?P<word>\w+)[ \t]+(?!(?:and|for|if|in|is|not|or)\b)[^\s=!()]")
_MARK = re.compile(r"# \[xlamig magic (\d+)\]")
_STRING = re.compile(r"(?:'''|\"\"\"|'|\"|#|[\[({]|[\])}])")


def is_python(cell: str) -> bool:
    """False for a cell that another program gets, such as one of `%%bash`."""
    magic = _CELL_MAGIC.match(cell)
    return magic is None or magic[1] in PYTHON_CELLS


def put_aside(cell: str, kept: list[str]) -> str:
    """The cell as Python; the lines it replaces are added to `kept`."""
    if parses(cell):
        return cell
    lines = cell.split("\n")
    new: list[str] = []
    state = _State()
    continued = False
    for line in lines:
        mark = f"# [xlamig magic {len(kept)}]"
        if continued:
            replaced: str | None = mark
        elif state.inside:
            replaced = None
        elif assigned := _ASSIGNED.match(line):
            replaced = f"{assigned['left']}None  {mark}"
        elif magic := _MAGIC.match(line) or _automagic(line):
            replaced = f"{magic['indent']}pass  {mark}"
        else:
            replaced = None
        if replaced is None:
            state.read(line)
            new.append(line)
            continue
        kept.append(line)
        new.append(replaced)
        continued = line.rstrip("\r").endswith("\\")
    return "\n".join(new)


def _automagic(line: str) -> re.Match[str] | None:
    """Return the match of a line that IPython reads as a magic or an alias: `cd folder/`."""
    first = _WORD.match(line)
    return first if first and first["word"] in _AUTOMAGICS and not parses(line.strip()) else None


def put_back(cell: str, kept: Sequence[str]) -> str:
    """The inverse of `put_aside`, also after other lines have changed."""
    return "\n".join(_original(line, kept) for line in cell.split("\n"))


def _original(line: str, kept: Sequence[str]) -> str:
    mark = _MARK.search(line)
    return kept[int(mark[1])] if mark and int(mark[1]) < len(kept) else line


class _State:
    """True if the next line starts inside a string or brackets, where a magic cannot be."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0

    @property
    def inside(self) -> bool:
        return bool(self.quote) or self.depth > 0

    def read(self, line: str) -> None:
        at = 0
        while at < len(line):
            if self.quote:
                at = self._close(line, at)
                continue
            found = _STRING.search(line, at)
            if found is None or found[0] == "#":
                break
            at = found.end()
            if found[0] in "([{":
                self.depth += 1
            elif found[0] in ")]}":
                self.depth = max(0, self.depth - 1)
            else:
                self.quote = found[0]
        if len(self.quote) == 1 and not line.rstrip("\r").endswith("\\"):
            self.quote = ""  # a string of one line that never ends

    def _close(self, line: str, at: int) -> int:
        while at < len(line):
            if line[at] == "\\":
                at += 2
            elif line.startswith(self.quote, at):
                at += len(self.quote)
                self.quote = ""
                return at
            else:
                at += 1
        return at
