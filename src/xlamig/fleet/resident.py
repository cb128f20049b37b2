"""The memory of a group of processes, from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_PAGES = 1024 * 1024 // os.sysconf("SC_PAGE_SIZE")  # in a megabyte


def resident_megabytes(leader: int) -> int:
    """Return the resident memory of a process group; 0 if the system does not report it."""
    return sum(_pages(process) for process in _descendants(leader)) // _PAGES


def _descendants(process: int) -> Iterator[int]:
    yield process
    for path in _PROC.glob(f"{process}/task/*/children"):
        for child in _words(path):
            yield from _descendants(int(child))


def _pages(process: int) -> int:
    words = _words(_PROC / str(process) / "statm")
    return int(words[1]) if len(words) > 1 else 0


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:  # it has just ended
        return []
