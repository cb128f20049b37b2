"""Absolute and shown forms of a path."""

from __future__ import annotations

import os
from pathlib import Path


def absolute(path: str | os.PathLike[str]) -> Path:
    """Absolute and without "..", but with symbolic links as the user wrote them."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def shown(path: Path) -> str:
    """A path for people: from the working directory where it lies below it."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()
