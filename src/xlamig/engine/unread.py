"""Find the files of a program that a run did not read: how they use a device is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from xlamig.config.paths import read_regular
from xlamig.engine.remembered import Remembered
from xlamig.engine.source import Source
from xlamig.fix.folders import Folders
from xlamig.flow.model.absolute_imports import AbsoluteImports

_MOST_FILES = 200
_Known = dict[tuple[Path, str], tuple[Path, ...]]


def unread_files(
    sources: Iterable[Source], known: Remembered[dict[str, str]], importers: bool
) -> dict[str, str]:
    """Return by module the name of one file that it imports and that was not read; with `importers`, a file
    that imports the module counts too."""
    python = [source for source in sources if source.source.kind is None]
    if importers:  # it depends on the texts of files beside
        return _find_unread(python, importers)
    question = [(source.file.path, source.module, _imports(source)) for source in python]
    return known.ask(question, lambda: _find_unread(python, importers))


def _find_unread(python: list[Source], importers: bool) -> dict[str, str]:
    read = {source.file.path for source in python}
    folders = Folders()
    found: dict[str, str] = {}
    known: _Known = {}
    for source in python:
        path = source.file.path
        imported = _imported_files(path, _imports(source), folders, known)
        near = _importers(path, folders) if importers else iter(())
        others = (one for one in (*imported, *near) if one not in read)
        other = next((one for one in others if not folders.has_helper(one.parent, one.stem)), None)
        if other is not None:
            found[source.module] = other.name
    return found


def _imports(source: Source) -> AbsoluteImports:
    interface = source.loaded.interface if source.loaded else None
    return interface.absolute if interface else AbsoluteImports()


def _imported_files(path: Path, imports: AbsoluteImports, folders: Folders, known: _Known) -> Iterator[Path]:
    """Yield the files of the project that a file imports; `known` are those of imports in the same folder."""
    for name in (*imports.possible, *imports.relative):
        key = path.parent, name
        if key not in known:
            known[key] = tuple(_imported_as(name, path, folders))
        yield from known[key]


def _imported_as(name: str, path: Path, folders: Folders) -> Iterator[Path]:
    dots = len(name) - len(name.lstrip("."))
    if dots:
        if dots <= len(path.parents):
            yield from _file(path.parents[dots - 1], name[dots:], folders)
        return
    first = name.partition(".")[0]
    if not folders.may_provide(first):
        return
    top = folders.project_of(path)
    roots = (folder for folder in path.parents if folder.is_relative_to(top))
    root = next((folder for folder in roots if folders.provides(folder, first, name)), None)
    if root is not None:
        yield from _file(root, name, folders)


def _file(root: Path, name: str, folders: Folders) -> Iterator[Path]:
    folder = root
    for part in filter(None, name.split(".")):
        if f"{part}.py" in folders.names(folder):
            yield folder / f"{part}.py"
            return
        if part not in folders.names(folder):
            break
        folder /= part
    if folders.is_package(folder):
        yield folder / "__init__.py"


def _importers(path: Path, folders: Folders) -> Iterator[Path]:
    """Yield files beside a file, or in its package, that import it."""
    name = path.parent.name if path.name == "__init__.py" else path.stem
    statement = re.compile(rf"^\s*(?:from|import)\s.*\b{re.escape(name)}\b", re.MULTILINE)
    package = folders.top_package(path)
    others = package.rglob("*.py") if package else path.parent.glob("*.py")
    for other in islice(sorted(others), _MOST_FILES):
        try:
            if other != path and statement.search(read_regular(other)):
                yield other
        except (OSError, UnicodeDecodeError):
            continue


def unread_in_program(unread: Mapping[str, str], program: Iterable[str]) -> str:
    """Return one unread file of a program; "" if all were read."""
    return next((unread[module] for module in sorted(program) if module in unread), "")
