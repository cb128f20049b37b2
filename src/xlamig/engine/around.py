"""Find the rest of the project that files to fix belong to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from xlamig.config.settings import Settings
from xlamig.fix.folders import Folders
from xlamig.source.files import SourceFile, discover

_MOST_FILES = 200


def files_around(
    asked: Collection[SourceFile], settings_of: Callable[[Path], Settings]
) -> tuple[SourceFile, ...] | None:
    """Return the other files of the projects of `asked`; None where more than 200 are Python, or where no
    mark such as `.git` shows the top of a project."""
    folders = Folders()
    tops = {folders.marked_project_of(file.path) for file in asked}
    if not tops or None in tops:
        return None
    found = discover(sorted(filter(None, tops)), settings_of).files
    known = {file.path for file in asked}
    if sum(file.path.suffix == ".py" for file in found) > _MOST_FILES:
        return None
    return tuple(file for file in found if file.path not in known)
