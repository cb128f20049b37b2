"""The answers that a run gets from the disk about the surroundings of its files, so that a later run can tell
whether they still hold."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""The names that mark the folder of a project."""
_OUTSIDE = frozenset({*MARKS, "__init__.py"})  # all that is asked about folders above a project
_OURS = frozenset({".xlamig_cache", "__pycache__"})


class Surroundings(NamedTuple):
    """`folders` are what folders hold, of those outside the project only names that matter there; `files` are
    the times and sizes of files that were read, None for those that are not there."""

    folders: Mapping[str, frozenset[str]]
    outside: Mapping[str, frozenset[str]]
    files: Mapping[str, tuple[int, int] | None]

    def still_hold(self) -> bool:
        return (
            all(_names(folder) - _OURS == names for folder, names in self.folders.items())
            and all(_names(folder) & _OUTSIDE == names for folder, names in self.outside.items())
            and all(_stamp(file) == stamp for file, stamp in self.files.items())
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of the runs of this process, with their answers."""

    folders: dict[str, frozenset[str]] = field(default_factory=dict)
    files: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def names_in(self, folder: str | Path) -> frozenset[str]:
        """Return the names of what a folder holds; nothing for one that cannot be read."""
        path = os.fspath(folder)
        names = self.folders[path] = _names(path)
        return names

    def note_file(self, file: str | Path) -> None:
        """Remember the state of a file that is about to be read."""
        self.files[os.fspath(file)] = _stamp(os.fspath(file))

    def forget(self) -> None:
        self.folders.clear()
        self.files.clear()

    def surroundings(self) -> Surroundings:
        """Return all answers since `forget`."""
        above = {os.fspath(folder) for folder in Path.cwd().parents}
        outside = {folder for folder in self.folders if folder in above and not self._is_marked(folder)}
        return Surroundings(
            {folder: names - _OURS for folder, names in self.folders.items() if folder not in outside},
            {folder: self.folders[folder] & _OUTSIDE for folder in outside},
            dict(self.files),
        )

    def _is_marked(self, folder: str) -> bool:
        """Return whether a folder is known to be part of a project."""
        around: Iterable[Path] = (Path(folder), *Path(folder).parents)
        held: Iterable[Collection[str]] = (self.folders.get(os.fspath(each), ()) for each in around)
        return any(not _OUTSIDE.isdisjoint(names) for names in held)


ASKED = Asked()


def _names(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
