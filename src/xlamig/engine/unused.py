"""Find the files of a run that its program does not use: copies of libraries, modules of its packages that
no script imports, and requirements of its documentation."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath

from xlamig.engine.clues import pairs_in
from xlamig.engine.configured import is_configured_elsewhere, public_classes
from xlamig.engine.installed import DOCUMENTATION, is_installed, library_folders, project_folders, runs_torch
from xlamig.engine.source import Source
from xlamig.engine.started import is_started
from xlamig.engine.switches import texts_beside, tries_itself_out
from xlamig.engine.unloadable import unloadable_modules
from xlamig.fix.folders import LAYOUTS
from xlamig.flow import ProjectIndex
from xlamig.knowledge import values as table

_DEFINES = re.compile(r"^(?:async )?(?:def|class) ", re.MULTILINE)
_RUNS = re.compile(r"^(?:[\w.]+\(|for |while |with )", re.MULTILINE)  # at the top of a file
_WORD = re.compile(r"\w+")
_PATH = re.compile(r"[\w./]+")
_BUILDS_DOCUMENTATION = re.compile(r"readthedocs|docs", re.IGNORECASE)  # in the name of a setting


def unused_files(sources: Iterable[Source], index: ProjectIndex, beside: Collection[str]) -> frozenset[str]:
    """Return the names of the unused files; `beside` are known to be no part of the program."""
    every = list(sources)
    python = [source for source in every if source.source.kind is None and source.file.name not in beside]
    projects = project_folders(every)
    names = {source.file.name for source in python}
    scripts = [source.source.text for source in every if source.source.kind == "shell"]
    copied = copies({source.file.name for source in every}, projects, names) - _started(names, scripts)
    rest = [source for source in python if source.file.name not in copied]
    settings = (source.source.text for source in every if source.source.kind not in (None, "native"))
    texts = chain(settings, texts_beside(every))  # read only where a module is left to be named
    unreached = frozenset(_unreached_modules(rest, index, library_folders(every, index), texts))
    return copied | unreached | frozenset(_of_documentation(every))


# ------------------------------------------------------------------ requirements of the documentation


def _of_documentation(sources: Collection[Source]) -> Iterator[str]:
    """Yield the requirements files in folders of documentation that only its own build names."""
    for source in sources:
        path = PurePosixPath(source.file.name)
        if source.source.kind == "requirements" and not DOCUMENTATION.isdisjoint(path.parts[:-1]):
            name = "/".join(path.parts[-2:])
            if not any(name in other.source.text for other in sources if _may_install(other)):
                yield source.file.name


def _may_install(source: Source) -> bool:
    return source.source.kind != "native" and not _BUILDS_DOCUMENTATION.search(source.file.name)


# ------------------------------------------------------------------ copies of libraries


def copies(names: Collection[str], projects: Collection[str], python: Collection[str]) -> frozenset[str]:
    """Return the files that lie in copies of libraries: below a folder that has the library's name and holds
    files that mark it; and modules in a folder for what others wrote, `third_party`, but not the kernels that
    a program brings there. A package at the top of the run, or of the project that is checked, is no copy.
    `projects` are the folders that can be installed, `python` the files that may be the program."""
    top = os.path.commonpath([_folder(name) for name in python] or [""])
    found = {
        root
        for name in names
        for folder in map(str, PurePosixPath(name).parents)
        if _is_copy(folder, names)
        and (root := _root(folder, projects)) != top
        and (root != folder or _folder(root) != top)
    }
    inside = frozenset(n for n in names if any(n.startswith(f"{root}/") for root in found))
    inside |= {name for name in python if _from_others(name.removeprefix(f"{top}/"))}
    return inside if set(python) - inside else frozenset()


def _from_others(name: str) -> str:
    """Return the path of a file from a folder for what others wrote on, "" for one that lies in none."""
    parts = name.split("/")
    folders = table.names("others", "folders")
    first = next((i for i, part in enumerate(parts[:-1]) if part.lower() in folders), len(parts))
    return "/".join(parts[first:])


def _started(names: Collection[str], scripts: Collection[str]) -> frozenset[str]:
    """Return the files in and below each folder of others from which a shell script of the project runs a
    program: `python third_party/train.py`. `setup.py` is no program, it installs a copy."""
    programs = {name: below for name in names if (below := _from_others(name))}
    run = {word for text in scripts for word in _PATH.findall(text) if word.endswith(".py")}
    run = {f"/{word}" for word in run if not word.endswith("/setup.py")}
    folders = {_folder(name) for name, below in programs.items() if any(w.endswith(f"/{below}") for w in run)}
    return frozenset(name for name in names if any(name.startswith(f"{folder}/") for folder in folders))


def _is_copy(folder: str, names: Collection[str]) -> bool:
    files = table.files_of_library(folder.rpartition("/")[2])
    return bool(files) and all(f"{folder}/{file}" in names for file in files)


def _root(folder: str, projects: Collection[str]) -> str:
    """Return the folder of the project that a package lies at the top of, or the package's own."""
    above = _folder(folder)
    if above.rpartition("/")[2] in LAYOUTS and above not in projects:
        above = _folder(above)
    return above if above in projects else folder


# ------------------------------------------------------------------ modules that no script imports


def _unreached_modules(
    sources: list[Source], index: ProjectIndex, libraries: Collection[str], texts: Iterable[str]
) -> Iterator[str]:
    """Yield the modules of packages that no script imports, directly or through others; of libraries every
    module may be imported that can be loaded."""
    inner = {source.module: source for source in inner_files(sources, index)}
    scripts = (s for s in sources if is_started(s, index) and s.module not in inner)
    if not inner or not runs_torch(scripts, sources, index):
        return
    starts = {source.module for source in sources} - inner.keys()
    left = inner.keys() - index.reached_from(starts)
    unloadable = unloadable_modules([inner[module] for module in sorted(left)], sources, index)
    yield from (inner[module].file.name for module in sorted(unloadable))
    unread = {m for m in left - unloadable if not is_installed(inner[m].file.name, libraries)}
    if unread:
        settings = [*texts]
        is_named = _named_by(settings, [s for s in sources if s.module not in unread])
        unfound = index.unfound()  # a variable may name the folder that it is found in
        sought = {m for m in unread if not unfound.isdisjoint(_tails(m))}
        if is_configured_elsewhere(sources, settings):
            sought |= {module for module in unread if public_classes(inner[module])}
        unread -= index.reached_from({*starts, *sought, *filter(is_named, unread)})
    yield from (inner[module].file.name for module in unread)


def _tails(module: str) -> Iterator[str]:
    """Yield the names that a module has for who looks for it in one of the folders above it."""
    parts = module.split(".")
    return (".".join(parts[i:]) for i in range(len(parts)))


def inner_files(sources: Collection[Source], index: ProjectIndex) -> Collection[Source]:
    """Return the modules of packages that are no scripts, or only try themselves out; in a folder without an
    `__init__.py`, which a package holds or modules are imported from, those that only define functions and
    classes."""
    packages = {_folder(source.file.name) for source in sources if source.is_package}
    named = {_folder(s.file.name) for s in sources if any(index.import_depths.get(s.module, ()))}
    return [s for s in sources if not _does_work(s) and _is_inside(s, packages, named)]


def _does_work(source: Source) -> bool:
    """Return whether a source is a script that does more than to try out what it defines."""
    return source.is_script and not tries_itself_out(source.source.text)


def _is_inside(source: Source, packages: Collection[str], named: Collection[str]) -> bool:
    folder = _folder(source.file.name)
    around = folder in named or any(str(above) in packages for above in PurePosixPath(folder).parents)
    return folder in packages or (around and _only_defines(source.source.text))


def _only_defines(text: str) -> bool:
    """Return whether a module holds functions or classes and calls nothing: no script, no settings."""
    return _DEFINES.search(text) is not None and not _RUNS.search(text)


def _named_by(settings: Iterable[str], code: Collection[Source]) -> Callable[[str], bool]:
    """Return a test whether a setting, or a string in code, names a module: "losses.gan", "losses/gan"; in a
    program that imports by names which it computes, whether any word is its name, or its package imports
    so: all that its folder holds. Where it computes the last part alone, the package's modules are named."""
    clues = [(source, source.loaded.clues) for source in code if source.loaded]
    packages = {_package(source, name) for source, clue in clues for name in clue.within}
    found = pairs_in([path for text in settings for path in _PATH.findall(text)])
    pairs = found.union(*(clue.quoted for _, clue in clues))

    def is_named(module: str) -> bool:
        around = module.rpartition(".")[0]
        inside = any(around == one or around.endswith(f".{one}") for one in packages)
        return inside or tuple(module.split(".")[-2:]) in pairs

    free = [source for source, clue in clues if clue.computes_imports and not clue.within]
    if not free:
        return is_named
    texts = (*settings, *(source.source.text for source in code))
    words = {word for text in texts for word in _WORD.findall(text)}
    gathers = {source.module for source in free if source.is_package}
    return lambda module: (
        is_named(module) or module.rpartition(".")[2] in words or module.rpartition(".")[0] in gathers
    )


def _package(source: Source, name: str) -> str:
    """Return a package by its name; "" is the one that a source is or lies in."""
    return name or (source.module if source.is_package else source.module.rpartition(".")[0])


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
