"""Where the rule pages lie, and whether they have changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import xlamig
from xlamig.config.errors import ConfigError
from xlamig.config.settings import Settings

Stamp = tuple[tuple[str, int, int], ...]


def stamp(settings: Settings) -> Stamp:
    """Changes when a file of the book does: names, times and sizes. A missing folder counts, too."""
    folders = [os.fspath(folder) for folder in folders_of(settings)]
    files = sorted(found for folder in folders for found in _stamps(folder))
    return *((folder, 0, 0) for folder in folders), *files


def _stamps(folder: str) -> Iterator[tuple[str, int, int]]:
    with suppress(OSError), os.scandir(folder) as entries:  # told of when it is read
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _stamps(entry.path)
            elif entry.name.endswith((".md", ".toml")):
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size


def folders_of(settings: Settings) -> list[Path]:
    """The folder that comes with xlamig, and the user's own."""
    return [find_book(), *settings.rules]


def find_book() -> Path:
    """`xlamig/_rules` of an installed package, `rules/` of a source checkout.

    Raises:
        ConfigError: there is neither.
    """
    package = Path(xlamig.__file__).parent
    for folder in (package / "_rules", package.parents[1] / "rules"):
        if folder.is_dir():
            return folder
    raise ConfigError("the rule pages of xlamig are not installed; install xlamig again")
