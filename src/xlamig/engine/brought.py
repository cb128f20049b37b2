"""Find the projects of others that a repository brings along and uses as libraries: folders with a licence of
their own, whose scripts nobody runs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from xlamig.config.disk import ASKED
from xlamig.engine.installed import BUILDS
from xlamig.engine.source import Source
from xlamig.engine.switches import text_of, texts_beside
from xlamig.flow import ProjectIndex

LICENCE = re.compile(r"(?:licen[cs]e|copying)(?:[.\-_].*)?", re.IGNORECASE)
"""The names of the files that tell whose a folder is."""


def brought_along(
    sources: Collection[Source], index: ProjectIndex, asked: Collection[Path]
) -> frozenset[str]:
    """Return the files of such projects by which only they themselves are run and installed: scripts and
    modules that none outside imports, and build files. A project counts if a module outside imports one of
    its modules, and no script or page outside names a script of it; one of the folders that are `asked` for
    is no such project."""
    found: set[str] = set()
    for folder in _licensed_folders(sources):
        inside = [source for source in sources if folder in source.file.path.parents]
        outside = [source for source in sources if folder not in source.file.path.parents]
        reached = index.reached_from(source.module for source in outside)
        used = [source for source in inside if source.module in reached]
        if not used or _is_asked(folder, asked) or _is_run(folder, outside):
            continue
        by_name = any(source.loaded and source.loaded.clues.computes_imports for source in outside + used)
        idle = (source for source in inside if source.module not in reached)
        found |= {source.file.name for source in idle if _is_idle(source, by_name)}
    return frozenset(found)


def _is_asked(folder: Path, asked: Collection[Path]) -> bool:
    """Return whether a path that is checked is a folder or lies in it."""
    return any(folder in (path, *path.parents) for path in (one.resolve() for one in asked))


def _is_idle(source: Source, by_name: bool) -> bool:
    """Return whether a file that nothing outside imports is of no use there; `by_name` says that modules may
    be imported by names which the program computes."""
    if source.file.path.name in BUILDS:
        return True
    return source.source.kind is None and (source.is_script or not by_name)


def _licensed_folders(sources: Collection[Source]) -> Iterator[Path]:
    """Yield the folders with another licence than the one that all files lie in."""
    folders = {source.file.path.parent for source in sources if source.source.kind is None}
    top = Path(os.path.commonpath(folders)) if folders else Path()
    own = _licences(top)
    below = {above for folder in folders for above in (folder, *folder.parents) if top in above.parents}
    return (folder for folder in sorted(below) if _licences(folder) - own)


def _licences(folder: Path) -> frozenset[str]:
    """Return the words of the licences that lie in a folder."""
    names = sorted(name for name in ASKED.names_in(folder) if LICENCE.fullmatch(name))
    return frozenset(" ".join(text_of(folder / name).split()) for name in names) - {""}


def _is_run(folder: Path, outside: Collection[Source]) -> bool:
    """Return whether a script or page outside of a folder names a script in it, `python x/train.py` or
    `python -m x.train`, or enters it, `cd x`."""
    name = re.escape(folder.name)
    run = re.compile(rf"(?<![\w-]){name}/[\w./-]*\.(?:py|ipynb)\b|-m \S*{name}\.\w|\bcd \S*{name}(?![\w/-])")
    texts = (source.source.text for source in outside if source.source.kind is not None)
    return any(run.search(text) for text in (*texts, *texts_beside(outside)))
