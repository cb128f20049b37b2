"""Find the modules that no Python can load: they import a module that their project does not hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from xlamig.config.disk import ASKED
from xlamig.engine.source import Source
from xlamig.flow import ProjectIndex

_MADE = re.compile(r"^_|version|config|(?:_pb2|_pb2_grpc|_ext|_cuda|_C|_lib)$")
"""Matches the names of modules that a build writes or compiles."""
_OTHER_WAYS = re.compile(r"\b__(?:getattr|path)__\b|\bsys\.(?:modules|path|meta_path)\b")
"""Matches what lets a package hold modules that are no files of it."""


def unloadable_modules(
    candidates: Collection[Source], every: Collection[Source], index: ProjectIndex
) -> set[str]:
    """Return the candidates that import, in their own body, names of a module that neither the package that
    should hold it nor any other file but the candidates knows of."""
    packages = {source.module: source for source in every if source.is_package}
    lost = {source.module: set(_lost(source, packages, index)) for source in candidates}
    if not any(lost.values()):
        return set()
    own = {source.file.name for source in candidates if lost[source.module]}
    texts = [source.source.text for source in every if source.file.name not in own]
    return {module for module, names in lost.items() if any(not _is_known(name, texts) for name in names)}


def _is_known(name: str, texts: Collection[str]) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(text) for text in texts if name in text)


def _lost(source: Source, packages: dict[str, Source], index: ProjectIndex) -> Iterator[str]:
    """Yield the last names of such modules: what `from package.lost import name` says."""
    interface = source.loaded.interface if source.loaded else None
    needed = interface.absolute.needed if interface else ()
    for dotted in needed:
        above, _, name = dotted.rpartition(".")
        package = packages.get(index.module_of(above, source.module)) if above else None
        if package is None or not any(one.startswith(f"{dotted}.") for one in needed) or _MADE.search(name):
            continue
        known = index.module_of(dotted, source.module) or index.resolve(dotted, source.module)
        elsewhere = index.stars_of(package.module) or _OTHER_WAYS.search(package.source.text)
        if not known and not elsewhere and name not in _names_in(package):
            yield name


def _names_in(package: Source) -> set[str]:
    """Return the names of what lies in the folder of a package, without their endings."""
    folder = package.file.path.parent
    ASKED.names_in(folder)
    try:
        return {entry.name.partition(".")[0] for entry in folder.iterdir()}
    except OSError:
        return set()
