"""Find the folders that a project keeps of its past, `old/` or `legacy/`, which nothing outside uses."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.flow import ProjectIndex
from xlamig.knowledge import values as table


def superseded_files(sources: Collection[Source], index: ProjectIndex) -> frozenset[str]:
    """Return the names of the files in such folders, of whatever kind. A folder counts as long as modules
    outside of all of them are left, none of which imports a module of it, and no script outside names it."""
    folders = {source.file.name: _folder(source.file.name) for source in sources}
    outside = [source for source in sources if not folders[source.file.name]]
    if not any(source.source.kind is None for source in outside):
        return frozenset()
    modules = {source.module for source in outside if source.source.kind is None}
    scripts = [source.source.text for source in outside if source.source.kind is not None]
    live = {
        folder
        for source in sources
        if (folder := folders[source.file.name])
        and source.source.kind is None
        and not modules.isdisjoint(index.importers.get(source.module, ()))
    }
    live |= {folder for folder in folders.values() if folder and _is_named(folder, scripts)}
    return frozenset(name for name, folder in folders.items() if folder and folder not in live)


def _folder(filename: str) -> str:
    """Return the outermost folder on the way to a file that is named as one of the past; "" without one."""
    past = table.name_like("superseded")
    folders = reversed(PurePosixPath(filename).parents)
    return next((str(folder) for folder in folders if past.search(folder.name)), "")


def _is_named(folder: str, scripts: Collection[str]) -> bool:
    """Return whether a script names a folder, as `old/train.py` or `old.train`: not as the end of a word."""
    name = re.escape(PurePosixPath(folder).name)
    named = re.compile(rf"(?<![\w-]){name}(?:/|\.(?=\w))")
    return any(map(named.search, scripts))
