"""Turn the arguments of the command line into repositories: folders, mirrors, URLs and lists of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from xlamig.config.paths import absolute
from xlamig.engine import UsageError
from xlamig.fleet.job import Source
from xlamig.fleet.lists import read_list

_URL = re.compile(r"[a-z][a-z+.-]*://|[\w.-]+@[\w.-]+:")
_PLAIN = ("repo", "git", "source")  # names of folders that tell nothing of the repository in them


def find_sources(given: Sequence[str]) -> list[Source]:
    """The repositories, each with a name of its own, in the order given.

    Raises:
        UsageError: a path does not exist, a list cannot be read, or two repositories have one name.
    """
    found: dict[Source, None] = {}
    for text in given:
        for source in _sources(text):
            found.setdefault(source)
    if not found:
        raise UsageError("no repository: name folders, mirrors, URLs or a list of them")
    return _name_sources(list(found))


def is_url(location: str) -> bool:
    return _URL.match(location) is not None


def is_repository(folder: Path) -> bool:
    """Return whether it is the top of a work tree, or a bare repository."""
    bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return bare or (folder / ".git").exists()


def _sources(text: str) -> Iterator[Source]:
    if is_url(text):
        yield Source("", text)
        return
    path = absolute(text)
    if path.is_file():
        for source in read_list(path):
            local = not is_url(source.location)
            location = absolute(path.parent / source.location).as_posix() if local else source.location
            yield replace(source, location=location)
    elif text and path.is_dir():
        for folder in _repositories(path):
            yield Source("", folder.as_posix())
    else:
        raise UsageError(f"no such file or folder: {text!r}")


def _repositories(folder: Path) -> list[Path]:
    """The folder itself, or the repositories up to two folders below one that is none."""
    if is_repository(folder):
        return [folder]
    found: list[Path] = []
    for child in _folders(folder):
        below = [child] if is_repository(child) else [one for one in _folders(child) if is_repository(one)]
        found += below
    return found or [folder]


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []


def _name_sources(sources: Sequence[Source]) -> list[Source]:
    """Names as short as they can be: what is named is kept, of two alike both get their folder's name too."""
    depths = [1] * len(sources)
    while True:
        names = [source.name or _name(source, depth) for source, depth in zip(sources, depths, strict=True)]
        double = {name for name, count in Counter(names).items() if count > 1}
        deeper = [
            depth + (name in double and not source.name and _name(source, depth + 1) != name)
            for source, name, depth in zip(sources, names, depths, strict=True)
        ]
        if deeper == depths:
            break
        depths = deeper
    if double:
        raise UsageError(f"two repositories are called {min(double)!r}: give each a name, in a table")
    return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]


def _name(source: Source, depth: int) -> str:
    """The last `depth` parts of the location; of a URL at least two: owner and name."""
    parts = [part for part in re.split(r"[/:]", source.location) if part not in ("", ".git")]
    parts = [*parts[:-1], parts[-1].removesuffix(".git")] if parts else ["repository"]
    if is_url(source.location):
        depth += 1
    elif len(parts) > 1 and parts[-1] in _PLAIN:
        parts.pop()
    return "/".join(filter(None, (*parts[-depth:], source.folder)))
