"""Classes that configurations name: YAML files, for `hydra.utils.instantiate` and its likes, and options, for
`getattr(models, args.model)`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import PurePosixPath

from xlamig.engine.cache import digest
from xlamig.engine.source import Source
from xlamig.engine.subclasses import subclasses_named
from xlamig.flow.interp.domain import MAX_ALTERNATIVES
from xlamig.flow.model.exports import Export, Interface
from xlamig.flow.model.registries import BELOW, BY_NAME, CONFIGURED, Entry
from xlamig.knowledge import values as table

_BARE = re.compile(r"""^[ ]*(?:- )?([A-Za-z_]\w*):[ ]*["']?([A-Z]\w*)["']?[ ]*(?:\#.*)?$""", re.MULTILINE)
_DEFINED = re.compile(r"\.add_argument\(((?:[^()]|\([^()]*\))*)\)")
_OPTION = re.compile(r"""["']--?([A-Za-z][\w-]*)["']""")
_QUOTED = re.compile(r"""["']([A-Za-z_]\w*)["']""")
_GIVEN = re.compile(r"""--?([A-Za-z][\w-]*)[= ]+["']?([A-Za-z_]\w*)\b""")
_HEADING = re.compile(r"""^([ ]*)(?:- )?["']?([A-Za-z_]\w*)["']?[ ]*:[ ]*(?:\#.*)?$""")


def note_configured(sources: Collection[Source]) -> None:
    """Add what the configurations among the sources name to the registries of the modules that make objects
    of configurations; those that were added before are replaced."""
    makers = [source for source in sources if source.loaded and source.loaded.clues.configured]
    if not makers:
        return
    named: dict[str, dict[str, None]] = {}
    keys = {part for source in makers if source.loaded for part in source.loaded.clues.configured}
    classes = _classes(sources) if any(key.startswith(BY_NAME) for key in keys) else {}
    for source in sources:
        if source.source.kind == "yaml":
            found = (*_entries(source), *_classes_named(source, keys, classes))
        else:
            found = tuple(_classes_of_options(source, keys, classes))
        for part, dotted in found:
            named.setdefault(part, {})[dotted] = None
    for part, dotted in _subclasses(sources, keys):
        named.setdefault(part, {})[dotted] = None
    for source in makers:
        loaded = source.loaded
        if loaded is None or loaded.interface is None:
            continue
        parts = [part for part in loaded.clues.configured if len(named.get(part, ())) <= MAX_ALTERNATIVES]
        interface = _with_entries(
            loaded.interface, [(part, dotted) for part in parts for dotted in named.get(part, ())]
        )
        if interface != loaded.interface:
            source.loaded = replace(loaded, interface=interface, seal=digest(interface._replace(calls={})))


def is_configured_elsewhere(sources: Collection[Source], texts: Iterable[str]) -> bool:
    """Return whether a program makes objects of a configuration that is not at hand: no source, and none of
    the `texts` beside them, names a class for one."""
    loaded = (source.loaded for source in sources)
    keys = (key for one in loaded if one for key in one.clues.configured)
    if all(key.startswith((BY_NAME, BELOW)) for key in keys):
        return False
    named, quoted = _named(), _named_in_code()
    if any(quoted.search(source.source.text) for source in sources if source.source.kind is None):
        return False
    settings = (source.source.text for source in sources if source.source.kind == "yaml")
    return not any(named.match(line) for text in chain(settings, texts) for line in text.splitlines())


def public_classes(source: Source) -> frozenset[str]:
    """Return the names of the classes of a module that a configuration may name."""
    interface = source.loaded.interface if source.loaded else None
    exports = interface.exports.items() if interface else ()
    return frozenset(name for name, one in exports if one.kind == "class" and not name.startswith("_"))


def _with_entries(interface: Interface, named: list[tuple[str, str]]) -> Interface:
    container = f"{interface.module}.{CONFIGURED}"
    registries = interface.registries
    entries = tuple(entry for entry in registries.entries if entry.container != container)
    made = {name: maker for name, maker in registries.made.items() if name != CONFIGURED}
    exports = {name: export for name, export in interface.exports.items() if name != CONFIGURED}
    if named:
        entries += tuple(Entry(container, key, dotted) for key, dotted in named)
        made[CONFIGURED], exports[CONFIGURED] = "", Export("registry")
    return interface._replace(exports=exports, registries=registries._replace(made=made, entries=entries))


def _entries(source: Source) -> Iterator[tuple[str, str]]:
    """Yield what a configuration names, each with the name of the section that it stands in; what is not
    indented is found under the name of the file and of its folder."""
    sections: list[tuple[int, str]] = []
    path = PurePosixPath(source.file.name)
    for line in source.source.text.splitlines():
        if heading := _HEADING.match(line):
            indent = len(heading[1])
            sections = [one for one in sections if one[0] < indent]
            sections.append((indent, heading[2]))
        elif named := _named().match(line):
            around = [name for indent, name in sections if indent < len(named[1])]
            for key in around[-1:] or (path.stem, path.parent.name):
                yield key, named[2]


def _classes(sources: Collection[Source]) -> Mapping[str, str]:
    """Return the full names of the project's classes whose name no other class has."""
    found: dict[str, list[str]] = {}
    for source in sources:
        interface = source.loaded.interface if source.loaded else None
        for name, export in interface.exports.items() if interface else ():
            if export.kind == "class":
                found.setdefault(name, []).append(f"{source.module}.{name}")
    return {name: places[0] for name, places in found.items() if len(places) == 1}


def _classes_named(
    source: Source, keys: Collection[str], classes: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the classes that a configuration names by the keys of those that are taken by their name."""
    for match in _BARE.finditer(source.source.text) if classes else ():
        key = BY_NAME + match[1]
        if key in keys and match[2] in classes:
            yield key, classes[match[2]]


def _classes_of_options(
    source: Source, keys: Collection[str], classes: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the classes that the definitions of a script's options name, and command lines in scripts."""
    for option, name in _given(source) if classes else ():
        key = BY_NAME + option.replace("-", "_")
        if key in keys and name in classes:
            yield key, classes[name]


def _subclasses(sources: Collection[Source], keys: Collection[str]) -> Iterator[tuple[str, str]]:
    if any(key.startswith(BELOW) for key in keys):
        words = {word for source in sources for _, word in _given(source)}
        yield from subclasses_named(sources, keys, words)


def _given(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the words in the definitions of a script's options, and on command lines in scripts, each with
    its option."""
    text = source.source.text
    if source.source.kind is None:
        for one in _DEFINED.findall(text):
            words = _QUOTED.findall(one)
            yield from ((option, word) for option in _OPTION.findall(one) for word in words)
    elif source.source.kind in ("shell", "makefile"):
        yield from _GIVEN.findall(text)


@cache
def _named() -> re.Pattern[str]:
    """Matches a line that names a class: `_target_: models.Net`."""
    keys = "|".join(table.names("configured", "keys"))
    return re.compile(
        rf"""^([ ]*)(?:- )?(?:{keys})[ ]*:[ ]*["']?([A-Za-z_]\w*(?:\.\w+)+)["']?[ ]*(?:\#.*)?$"""
    )


@cache
def _named_in_code() -> re.Pattern[str]:
    """Matches where code names a class in a configuration: `{"_target_": "models.Net"}`."""
    keys = "|".join(table.names("configured", "keys"))
    return re.compile(rf"""\b(?:{keys})["']?(?:\s*:\s*str)?\s*[:=]\s*["'][A-Za-z_]\w*(?:\.\w+)+["']""")
