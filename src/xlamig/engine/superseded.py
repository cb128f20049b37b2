"""Find what a project keeps of its past, the folder `legacy/` or `utils_legacy.py`, which nothing uses."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.engine.switches import texts_beside
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


def superseded_modules(sources: Collection[Source], index: ProjectIndex) -> frozenset[str]:
    """Return the names of such files: `utils_old.py` beside `utils.py`. A file counts as long as only such
    files import it, no other text has its name, and no module imports by names that it may compute."""
    names = {source.file.name for source in sources}
    past = [source for source in sources if source.source.kind is None and _newer(source.file.name) in names]
    if not past:
        return frozenset()
    modules = {source.module for source in past}
    others = [source for source in sources if source.module not in modules]
    texts = [*(source.source.text for source in others), *texts_beside(sources)]
    return frozenset(
        source.file.name
        for source in past
        if modules.issuperset(index.importers.get(source.module, ()))
        and not any(_computes_imports(other, source.module.rpartition(".")[0]) for other in others)
        and not any(map(re.compile(rf"\b{PurePosixPath(source.file.name).stem}\b").search, texts))
    )


def _newer(filename: str) -> str:
    """Return the name of the file that one of the past is an older copy of; "" for others."""
    stem = PurePosixPath(filename).stem
    newer = table.name_like("superseded-module").sub("", stem)
    return str(PurePosixPath(filename).with_name(f"{newer}.py")) if newer not in ("", stem) else ""


def _computes_imports(source: Source, package: str) -> bool:
    """Return whether a module may import modules of a package by names which it computes."""
    if source.loaded is None or not source.loaded.clues.computes_imports:
        return False
    own = source.module if source.is_package else source.module.rpartition(".")[0]
    within = {name or own for name in source.loaded.clues.within}
    return not within or any(package == one or package.endswith(f".{one}") for one in within)


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
