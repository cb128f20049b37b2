"""Where the files of a run import the helper from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xlamig.engine.source import Source
from xlamig.fix.folders import Folders
from xlamig.fix.launches import launches_in
from xlamig.fix.layout import Layout, ProjectFile, projects
from xlamig.fix.scope import Scope
from xlamig.flow.model.absolute_imports import AbsoluteImports
from xlamig.flow.model.scripts import MARK


def homes(sources: Iterable[Source]) -> dict[Path, Scope]:
    """The scope of the helper by file, for each project that the run has files of."""
    python = {source.file.path: source for source in sources if source.source.kind is None}
    folders = Folders()
    found: dict[Path, Scope] = {}
    for top, paths in projects(python, folders).items():
        files = {path: _project_file(python[path]) for path in paths}
        name = python[paths[0]].file.settings.helper
        found |= Layout(top, files, launches_in(top), name, folders).homes()
    return found


def _project_file(source: Source) -> ProjectFile:
    loaded = source.loaded
    if loaded is None or loaded.interface is None:
        return ProjectFile(AbsoluteImports())
    return ProjectFile(loaded.interface.absolute, f"\n{MARK}\n" in loaded.uses, "\ntorch" in loaded.uses)
