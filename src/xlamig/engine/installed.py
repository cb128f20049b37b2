"""Find the folders that can be installed, and the libraries among them: packages that others import."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.engine.switches import texts_beside
from xlamig.flow import ProjectIndex
from xlamig.flow.model.site import names_torch

BUILDS: Mapping[str, re.Pattern[str]] = {
    "setup.py": re.compile(""),
    "setup.cfg": re.compile(r"^\[(?:metadata|options)\b", re.MULTILINE),
    "pyproject.toml": re.compile(
        r"^\[(?:build-system\]|tool\.(?:poetry|setuptools|hatch|pdm|flit)\b)", re.MULTILINE
    ),
}
"""Files in the folder of a project that can be installed, and what they say then, not for tools alone."""

_TELLS = re.compile(
    r"\b(?:authors?|author_email|classifiers|homepage|licen[cs]e|long_description|maintainers?|project_urls|readme"
    r"|repository|urls?)\b[\"']?\s*[=:]|^\[project\.urls\]|\*\*\w",
    re.MULTILINE,
)
"""The words by which a build file tells others who wrote a package, and where it comes from."""

DOCUMENTATION = frozenset({"doc", "docs", "documentation"})


def project_folders(sources: Iterable[Source]) -> Collection[str]:
    """Return the folders that can be installed."""
    return {_folder(s.file.name) for s in sources if _builds(PurePosixPath(s.file.name).name, s.source.text)}


def published_folders(sources: Iterable[Source]) -> Collection[str]:
    """Return the folders that can be installed and tell others about their package. A build file without a
    word for others is there for who runs the project's own scripts: `pip install -e .`; so is one that lies
    in the package itself, beside scripts that import it from the folder above."""
    sources = list(sources)
    folders = project_folders(sources)
    packages = {_folder(source.file.name) for source in sources if source.is_package}
    builds = [source for source in sources if PurePosixPath(source.file.name).name in BUILDS]
    return {
        f
        for s in builds
        if (f := _folder(s.file.name)) in folders
        and _TELLS.search(s.source.text)
        and not (f in packages and any(_uses(source, f) for source in sources))
    }


def _uses(source: Source, package: str) -> bool:
    """Return whether a script outside of a folder imports it as a package."""
    _, _, name = package.rpartition("/")
    imports = re.search(rf"^[ \t]*(?:from|import) {re.escape(name)}\b", source.source.text, re.MULTILINE)
    return bool(imports) and source.is_script and not is_installed(source.file.name, {package})


def _builds(name: str, text: str) -> bool:
    return name in BUILDS and BUILDS[name].search(text) is not None


def is_installed(name: str, projects: Collection[str]) -> bool:
    """Return whether a file lies below a folder that can be installed."""
    return any(
        ("" if str(folder) == "." else str(folder)) in projects for folder in PurePosixPath(name).parents
    )


def runs_torch(scripts: Iterable[Source], sources: Iterable[Source], index: ProjectIndex) -> bool:
    """Return whether one of the scripts, or a module that they import, speaks of torch."""
    scripts = list(scripts)
    if any(names_torch(script.source.text) for script in scripts):
        return True
    reached = index.reached_from(script.module for script in scripts)
    return any(source.module in reached and names_torch(source.source.text) for source in sources)


def library_folders(sources: Collection[Source], index: ProjectIndex) -> Collection[str]:
    """Return those of the published folders whose packages others import: no script in them runs torch, they
    have documentation, or a page imports or installs one of their packages by its name. The other ones are
    there for the scripts that the project runs itself."""
    published = sorted(published_folders(sources))
    texts: list[str] = []
    found = set()
    for folder in published:
        inside = [source for source in sources if is_installed(source.file.name, {folder})]
        runs = runs_torch((source for source in inside if source.is_script), sources, index)
        if runs and not _is_documented(inside):
            texts = texts or [*_texts_of_pages(sources), *texts_beside(sources)]
            if not _is_imported(set(_packages(inside, folder)), texts):
                continue
        found.add(folder)
    return found


def library_files(sources: Collection[Source], index: ProjectIndex) -> frozenset[str]:
    """Return the files below such folders."""
    folders = library_folders(sources, index)
    return frozenset(s.file.name for s in sources if is_installed(s.file.name, folders))


def _texts_of_pages(sources: Iterable[Source]) -> Iterator[str]:
    return (source.source.text for source in sources if source.source.kind is not None)


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
        rf"^[ \t>]*import (?:{names})\b"
        rf"|\bpip3? install [^\n`]*(?:(?<![\w./])|git\+\S*/)(?:{names})(?![\w/])",
        re.MULTILINE | re.IGNORECASE,
    )
    return any(map(asked.search, texts))


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
