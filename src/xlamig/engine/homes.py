"""Where the files of a run import the helper from."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from pathlib import Path

from xlamig.engine.source import Source
from xlamig.fix.folders import Folders
from xlamig.fix.launches import Launches, launches_in
from xlamig.fix.layout import Layout, ProjectFile, projects
from xlamig.fix.scope import Scope
from xlamig.flow.model.absolute_imports import AbsoluteImports
from xlamig.flow.model.scripts import MARK

Project = tuple[Path, frozenset[tuple[Path, ProjectFile]], Launches, str]
"""A project's folder, its files, how they are started, and the name of its helper: these decide where the
files import the helper from."""
Homes = MutableMapping[Project, dict[Path, Scope]]


def homes(sources: Iterable[Source], known: Homes) -> dict[Path, Scope]:
    """The scope of the helper by file, for each project that the run has files of. `known` are those of an
    earlier run, and are replaced by those of this one."""
    python = {source.file.path: source for source in sources if source.source.kind is None}
    folders = Folders()
    fresh: dict[Project, dict[Path, Scope]] = {}
    for top, paths in projects(python, folders).items():
        files = {path: _project_file(python[path]) for path in paths}
        name = python[paths[0]].file.settings.helper
        project = (top, frozenset(files.items()), launches_in(top), name)
        found = known.get(project)
        if found is None:
            found = Layout(top, files, project[2], name, folders).homes()
        fresh[project] = found
    known.clear()
    known.update(fresh)
    return {path: scope for found in fresh.values() for path, scope in found.items()}


def _project_file(source: Source) -> ProjectFile:
    loaded = source.loaded
    if loaded is None or loaded.interface is None:
        return ProjectFile(AbsoluteImports())
    return ProjectFile(loaded.interface.absolute, f"\n{MARK}\n" in loaded.uses, "\ntorch" in loaded.uses)
