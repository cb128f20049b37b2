"""The files of a run: named ones, and those a walk through named folders finds."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlamig.config.paths import absolute
from xlamig.config.patterns import Patterns
from xlamig.config.settings import Settings
from xlamig.findings import SkippedFile
from xlamig.source.gitignore import Ignores
from xlamig.source.kinds import kind_of
from xlamig.source.notebook import SUFFIX

MODULES = (".py", ".pyi")
SUFFIXES = (*MODULES, SUFFIX)
OUTPUTS = 20  # a notebook is mostly pictures, and of these nothing is parsed
_SHEBANG = re.compile(rb"#!.*\bpython")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`path` is absolute; `name` is relative to the working directory, with "/"; `size` in bytes."""

    path: Path
    name: str
    settings: Settings
    size: int


def too_large(name: str, size: int, settings: Settings) -> str | None:
    """Why a file of so many bytes is skipped; None for one that is not."""
    most = settings.max_file_size * (OUTPUTS if name.endswith(SUFFIX) else 1)
    return f"{size} bytes, above max-file-size = {settings.max_file_size}" if size > most else None


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files to check, sorted by name; `missing` are the given paths that do not exist."""

    files: tuple[SourceFile, ...]
    missing: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]


def discover(paths: Sequence[Path], settings_of: Callable[[Path], Settings]) -> Discovery:
    """The files that `paths` name or hold and that may say something: Python, notebooks, and those of
    `source.kinds`. Symbolic links to folders are not followed."""
    search = _Search(settings_of)
    for path in paths:
        search.add(path)
    return search.result()


def module_name(path: Path) -> str:
    """The dotted name of a file from the packages above it; outside a package its stem."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while folder.name.isidentifier() and any((folder / f"__init__{suffix}").is_file() for suffix in MODULES):
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or path.stem


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder on the way, with what holds in it."""

    path: str
    real: str  # free of symbolic links: who a file is
    name: str  # "" for the working directory, else ends in "/"
    settings: Settings
    patterns: Patterns
    ignores: Ignores


class _Search:
    def __init__(self, settings_of: Callable[[Path], Settings]) -> None:
        self._settings_of = settings_of
        self._cwd = Path.cwd()
        self._found: dict[str, tuple[bool, SourceFile]] = {}  # by real path; whether it is a link
        self._missing: dict[str, None] = {}
        self._skipped: dict[str, str] = {}

    def result(self) -> Discovery:
        files = sorted((file for _, file in self._found.values()), key=lambda file: file.name)
        skipped = (SkippedFile(name, reason) for name, reason in sorted(self._skipped.items()))
        return Discovery(tuple(files), tuple(self._missing), tuple(skipped))

    def add(self, path: Path) -> None:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
            self._missing[path.as_posix()] = None
            return
        except OSError as error:
            self._skip(self._name(absolute(path).as_posix()), error)
            return
        full = absolute(path)
        settings = self._settings_of(full)
        patterns = _patterns(settings)
        if settings.force_exclude and patterns.match(full.as_posix(), stat.S_ISDIR(status.st_mode)):
            return
        if stat.S_ISDIR(status.st_mode):
            self._walk(full.as_posix(), settings, patterns)
        else:
            self._add_named(full.as_posix(), status, settings)

    def _add_named(self, path: str, status: os.stat_result, settings: Settings) -> None:
        name = self._name(path)
        if not stat.S_ISREG(status.st_mode):
            self._skipped[name] = "not a regular file"
            return
        try:
            wanted = is_wanted(path) or _has_python_shebang(path)
        except OSError as error:
            self._skip(name, error)
            return
        if wanted:
            self._keep(path, name, os.path.realpath(path), Path(path).is_symlink(), status.st_size, settings)

    def _walk(self, path: str, settings: Settings, patterns: Patterns) -> None:
        name = self._name(path)
        top = _Folder(
            path,
            os.path.realpath(path),
            "" if name == "." else f"{name}/",
            settings,
            patterns.inside(path),
            Ignores.above(path).inside(path),
        )
        pending = [top]
        while pending:
            pending += self._list(pending.pop())

    def _list(self, folder: _Folder) -> list[_Folder]:
        """Keeps the folder's files; the folders in it that are to be walked."""
        try:
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(folder.name.rstrip("/") or ".", error)
            return []
        respect = folder.settings.respect_gitignore
        ignores = folder.ignores.entering(folder.path, {entry.name for entry in entries})
        below = []
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not is_wanted(f"{folder.name}{entry.name}"):
                continue
            if folder.patterns.match_entry(entry.path, is_folder):
                continue
            if respect and ignores.ignored(entry.path, is_folder):
                continue
            if is_folder:
                below.append(self._below(folder, entry, ignores))
            else:
                self._add_entry(folder, entry)
        return below

    def _below(self, folder: _Folder, entry: os.DirEntry[str], ignores: Ignores) -> _Folder:
        settings = self._settings_of(Path(entry.path))
        patterns = folder.patterns if settings is folder.settings else _patterns(settings)
        real, name = f"{folder.real}/{entry.name}", f"{folder.name}{entry.name}/"
        return _Folder(entry.path, real, name, settings, patterns, ignores)

    def _add_entry(self, folder: _Folder, entry: os.DirEntry[str]) -> None:
        name, is_link = folder.name + entry.name, entry.is_symlink()
        try:
            status = entry.stat()
        except OSError as error:
            if not is_link:  # editors leave dangling links as locks
                self._skip(name, error)
            return
        if stat.S_ISREG(status.st_mode):
            real = os.path.realpath(entry.path) if is_link else f"{folder.real}/{entry.name}"
            self._keep(entry.path, name, real, is_link, status.st_size, folder.settings)

    def _keep(self, path: str, name: str, real: str, is_link: bool, size: int, settings: Settings) -> None:
        reason = too_large(name, size, settings)
        if reason is not None:
            self._skipped[name] = reason
            return
        known = self._found.get(real)
        if known is None or (known[0] and not is_link):
            self._found[real] = is_link, SourceFile(Path(path), name, settings, size)

    def _skip(self, name: str, error: OSError) -> None:
        self._skipped[name] = f"cannot be read: {error.strerror}"

    def _name(self, path: str) -> str:
        return Path(os.path.relpath(path, self._cwd)).as_posix()


def is_wanted(path: str) -> bool:
    return path.endswith(SUFFIXES) or kind_of(path) is not None


def _patterns(settings: Settings) -> Patterns:
    return Patterns((*settings.exclude, *settings.extend_exclude), settings.root)


def _has_python_shebang(path: str) -> bool:
    with Path(path).open("rb") as file:
        return _SHEBANG.match(file.read(128)) is not None
