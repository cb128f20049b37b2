"""How a project's own documents and scripts start its programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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
    found = [_launches_of_file(path, *_stamp(path)) for path in _documents(root)]
    return Launches(
        frozenset().union(*(each.modules for each in found)),
        frozenset().union(*(each.scripts for each in found)),
    )


@lru_cache(maxsize=4 * _MOST_FILES)  # a process that checks again reads only what has changed
def _launches_of_file(path: Path, time: int, size: int) -> Launches:
    return launches_of([_text(path)])


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


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


def _documents(root: Path) -> Iterator[Path]:
    """Documents near the top of a project, a bounded number."""
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        shown = sorted(name for name in folders if not name.startswith("."))
        folders[:] = shown if depth < _DEPTH - 1 else []
        for name in sorted(names):
            if name.endswith(_SUFFIXES) or name.startswith(_NAMES):
                yield Path(folder, name)
                left -= 1
                if not left:
                    return


def _text(path: Path) -> str:
    try:
        return read_regular(path, _MOST_BYTES, errors="replace")
    except OSError:
        return ""
