"""Find the packages that can be installed and whose pages say how others import them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.engine.unused import DOCUMENTATION, is_installed, is_script


def folders_for_others(
    sources: Collection[Source], projects: Iterable[str], texts: Collection[str]
) -> Iterator[str]:
    """Yield those of the folders that can be installed which are a library: no script in them runs torch,
    they have documentation, or a page imports or installs one of their packages by its name."""
    for folder in projects:
        inside = [source for source in sources if is_installed(source.file.name, {folder})]
        runs = any(is_script(source) and "torch" in source.source.text for source in inside)
        if not runs or _is_documented(inside) or _is_imported(set(_packages(inside, folder)), texts):
            yield folder


def _is_documented(sources: Iterable[Source]) -> bool:
    return any(not DOCUMENTATION.isdisjoint(PurePosixPath(s.file.name).parts[:-1]) for s in sources)


def _packages(sources: Iterable[Source], folder: str) -> Iterator[str]:
    """Yield the names of the packages at the top of a folder, or in its `src`."""
    for source in sources:
        if source.is_package:
            path = PurePosixPath(source.file.name).parent
            if str(path.parent) in (folder or ".", str(PurePosixPath(folder) / "src")):
                yield path.name


def _is_imported(packages: Collection[str], texts: Iterable[str]) -> bool:
    """Return whether a page imports a package, or installs it from where others find it."""
    if not packages:
        return True
    names = "|".join(sorted(re.escape(name).replace("_", "[-_]") for name in packages))
    asked = re.compile(
        rf"^[ \t>]*(?:from|import) (?:{names})\b"
        rf"|\bpip3? install [^\n`]*(?:(?<![\w./])|git\+\S*/)(?:{names})(?![\w/])",
        re.MULTILINE | re.IGNORECASE,
    )
    return any(map(asked.search, texts))
