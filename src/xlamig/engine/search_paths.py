"""The folders that shell scripts and images put on Python's search path."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from xlamig.engine.cache import digest
from xlamig.engine.source import Source
from xlamig.flow.model.search_path import exactly

_SETS = re.compile(r"^[^#\n]*?\bPYTHONPATH[= ][\"']?([^\s\"';&]+)", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|`[^`]*`|\$\w+|\$")


def note_search_paths(sources: Collection[Source]) -> None:
    """Add the folders that `PYTHONPATH` names in shell scripts and Dockerfiles to the search paths of all
    modules; those that were added before are replaced. A name that several folders end in adds none."""
    modules = [source for source in sources if source.loaded and source.loaded.interface]
    scripts = (source for source in sources if source.source.kind in ("shell", "dockerfile"))
    texts = [source.source.text for source in scripts if "PYTHONPATH" in source.source.text]
    folders = frozenset(module.module.rpartition(".")[0] for module in modules) - {""}
    added = tuple(map(exactly, dict.fromkeys(_folders(texts, folders))))
    for source in modules:
        loaded = source.loaded
        if loaded is None or loaded.interface is None:
            continue
        own = tuple(name for name in loaded.interface.search_path if not name.startswith("."))
        if loaded.interface.search_path != (*own, *added):
            interface = loaded.interface._replace(search_path=(*own, *added))
            source.loaded = replace(loaded, interface=interface, seal=digest(interface._replace(calls={})))


def _folders(texts: Iterable[str], folders: Collection[str]) -> Iterator[str]:
    """Yield the project's folders that scripts name: "parts" of `$ROOT/parts`, "src.parts" of
    `/app/src/parts`."""
    for text in texts:
        for value in _SETS.findall(text):
            for entry in value.split(":"):
                path = _VARIABLE.sub("", entry)
                name = ".".join(part for part in path.split("/") if part not in ("", ".", ".."))
                found = [folder for folder in folders if f".{folder}".endswith(f".{name}")]
                if entry.startswith("/"):
                    found = [folder for folder in folders if f".{name}".endswith(f".{folder}")]
                if name and len(found) == 1:
                    yield found[0]
