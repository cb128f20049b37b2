"""Tell packages that others install from those that a program installs for itself, `pip install -e .`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.engine.switches import files_of_settings, text_of
from xlamig.fix.folders import LAYOUTS

_DECLARED = re.compile(r"""(?<![\w.])name\s*=\s*["']?([\w.-]+)""")
_TOOL = re.compile(r"\b(?:pip3?|uv|conda|mamba|poetry)\b", re.IGNORECASE)
_INSTALLS = re.compile(r"\b(?:install|add)\b(?! +(?:-e|--editable|\.))", re.IGNORECASE)
_PAGES = (".md", ".rst")


def is_published(build: Source, sources: Collection[Source]) -> bool:
    """Return whether the pages of the project that a file builds show how others install it; where there
    are no pages, they may."""
    folder = build.file.name.rpartition("/")[0]
    pages = list(_pages(build))
    if not pages:
        return True
    names = {*_DECLARED.findall(build.source.text), *_packages(folder, sources)}
    one_of = "|".join(re.sub("[-_.]+", "[-_.]", name) for name in sorted(names))
    named = re.compile(rf"(?<![\w./-])(?:{one_of})(?![\w/-])", re.IGNORECASE)
    linked = re.compile(rf"/(?:{one_of})(?![\w-])", re.IGNORECASE)
    return any(_shows(line, named, linked) for text in pages for line in text.splitlines())


def _packages(folder: str, sources: Iterable[Source]) -> Iterator[str]:
    """Yield the names of the packages that a project's folder holds, or is."""
    for source in sources:
        if source.is_package:
            package = PurePosixPath(source.file.name).parent
            above = package.parent.parent if package.parent.name in LAYOUTS else package.parent
            if folder in (_named(package), _named(package.parent), _named(above)):
                yield package.name


def _named(folder: PurePosixPath) -> str:
    return "" if str(folder) == "." else str(folder)


def _pages(build: Source) -> Iterator[str]:
    """Yield the pages beside a file that builds a project and above it, as far as the paths of the run go."""
    parents = build.file.path.parents
    for folder in parents[: len(PurePosixPath(build.file.name).parts)]:
        for beside in (folder, folder / "docs", folder / "doc"):
            for path in files_of_settings(beside):
                if path.suffix in _PAGES and (text := text_of(path)):
                    yield text


def _shows(line: str, named: re.Pattern[str], linked: re.Pattern[str]) -> bool:
    """Return whether a line installs a package by its name or from its repository, or links to it on PyPI."""
    words = [word for word in line.split() if linked.search(word)]
    if any("pypi" in word.lower() for word in words):
        return True
    tool = _TOOL.search(line)
    installs = _INSTALLS.search(line, tool.end()) if tool else None
    if installs is None:
        return False
    return named.search(line, installs.end()) is not None or any("git+" in word for word in words)
