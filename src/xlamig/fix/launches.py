"""How a project's own documents and scripts start its programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from xlamig.config.disk import ASKED
from xlamig.config.paths import read_regular

_SUFFIXES = (".md", ".rst", ".sh", ".bash", ".slurm", ".sbatch", ".toml", ".cfg")
_NAMES = ("Makefile", "Dockerfile", "README")
_MOST_FILES, _MOST_BYTES, _DEPTH = 200, 400_000, 3
_LAUNCHER = r"(?:python[\d.]*|torchrun|accelerate\s+launch|deepspeed|pytest|ipython|uv\s+run)"
_COMMAND = re.compile(rf"\b{_LAUNCHER}\b((?:[^\n`;|&\\]|\\\r?\n?)*)")
_AS_MODULE = re.compile(r"(?:^|\s)(?:-m|--module)[ =]([A-Za-z_][\w.]*)")
_BY_PATH = re.compile(r"(?:^|\s)([\w./-]+\.py)\b")
_ENTRY_POINT = re.compile(r"""=\s*["']?([A-Za-z_]\w*(?:\.\w+)*):[A-Za-z_]""")
_NOT_PROGRAMS = ("torch.", "pip", "pytest", "venv")


@dataclass(frozen=True, slots=True)
class Launches:
    """`modules` are started by `python -m` or by an entry point, `scripts` by their path, as written."""

    modules: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()


def launches_in(root: Path) -> Launches:
    found = [_launches_of_file(*document) for document in _documents(root)]
    return Launches(
        frozenset().union(*(each.modules for each in found)),
        frozenset().union(*(each.scripts for each in found)),
    )


@lru_cache(maxsize=4 * _MOST_FILES)  # a process that checks again reads only what has changed
def _launches_of_file(path: str, time: int, size: int) -> Launches:
    return launches_of([_text(Path(path))])


def launches_of(texts: Iterable[str]) -> Launches:
    modules: set[str] = set()
    scripts: set[str] = set()
    for text in texts:
        modules.update(_ENTRY_POINT.findall(text))
        for command in _COMMAND.findall(text):
            modules.update(_AS_MODULE.findall(command))
            scripts.update(_BY_PATH.findall(command))
    own = {name for name in modules if not name.startswith(_NOT_PROGRAMS)}
    return Launches(frozenset(own), frozenset(scripts))


def _documents(root: Path) -> Iterator[tuple[str, int, int]]:
    """Documents near the top of a project, a bounded number: path, time and size."""
    return islice(_documents_below(os.fspath(root), _DEPTH), _MOST_FILES)


def _documents_below(folder: str, depth: int) -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return
    ASKED.folders[folder] = frozenset(entry.name for entry in entries)
    folders = []
    for entry in entries:
        try:
            if entry.is_dir():
                folders.append(entry)
            elif entry.name.endswith(_SUFFIXES) or entry.name.startswith(_NAMES):
                ASKED.note_file(entry.path)
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size
        except OSError:  # gone, or a link to nowhere
            continue
    for entry in folders if depth > 1 else ():
        if not entry.name.startswith(".") and not entry.is_symlink():
            yield from _documents_below(entry.path, depth - 1)


def _text(path: Path) -> str:
    try:
        return read_regular(path, _MOST_BYTES, errors="replace")
    except OSError:
        return ""
