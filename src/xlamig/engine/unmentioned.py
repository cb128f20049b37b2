"""Find the functions and classes that nothing in a program runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from xlamig.engine.cache import Cache, digest
from xlamig.engine.configured import is_configured_elsewhere, public_classes
from xlamig.engine.installed import is_installed, library_folders, published_folders, runs_torch
from xlamig.engine.packed import Packed
from xlamig.engine.source import Source
from xlamig.engine.started import is_started
from xlamig.engine.switches import is_tried_out, texts_beside
from xlamig.flow import ProjectIndex
from xlamig.flow.model.conditions import Conditions
from xlamig.flow.model.mentioned import Block, Mentions
from xlamig.flow.model.outcomes import State, outcome
from xlamig.flow.model.references import Referring
from xlamig.flow.model.registries import CONFIGURED
from xlamig.flow.model.same_names import StatesInModule
from xlamig.flow.model.unreached import Reach

_WORD = re.compile(r"[A-Za-z_]\w+")


class Unreached(NamedTuple):
    """By file, the qualified names of the functions and classes that no module, setting or page mentions but
    such ones, and of those that only code mentions which an option keeps off, each with the test."""

    unmentioned: Mapping[str, tuple[str, ...]]
    off: Mapping[str, tuple[tuple[str, str], ...]]


NONE_UNREACHED = Unreached({}, {})


def unreached_scopes(
    sources: Iterable[Source],
    index: ProjectIndex,
    beside: Collection[str],
    switches: Mapping[str, State],
    cache: Cache,
) -> Unreached:
    """Return what nothing runs, for options with the states of `switches`; nothing where no script runs what
    there is. The users of a library may call what is public and set any option: in it only what waits for
    CUDA is off."""
    every = list(sources)
    python = [s for s in every if s.source.kind is None and s.loaded and s.loaded.interface]
    tried = {s.file.name for s in python if is_tried_out(s.source.text, s.module in index.import_depths)}
    scripts = (s for s in python if is_started(s, index) and s.file.name not in {*beside, *tried})
    if not runs_torch(scripts, python, index):
        return NONE_UNREACHED
    others = [s.source.text for s in every if not (s.loaded and s.loaded.interface)]
    texts = [*others, *texts_beside(every)]
    libraries = sorted(library_folders(every, index))
    files = [(source.file.name, source.module, *_seals(source)) for source in python]
    states = sorted(switches.items())
    chooses = not any(True for _ in published_folders(every))  # who installs a package may choose any name
    made: frozenset[str] = frozenset()
    if is_configured_elsewhere(every, texts):
        made = made.union(*map(public_classes, python))
    made |= {name for source in python for name in _configured_in(source)}
    key = digest(
        "unreached", files, texts, sorted(beside), libraries, states, sorted(tried), sorted(made), chooses
    )
    found: Unreached | None = cache.get_many([key]).get(key)
    if found is None:
        found = _find_unreached(python, index, beside, libraries, switches, [*texts, *made], tried, chooses)
        cache.put_many({key: found})
    return found


def _find_unreached(
    python: Collection[Source],
    index: ProjectIndex,
    beside: Collection[str],
    libraries: Collection[str],
    switches: Mapping[str, State],
    texts: Iterable[str],
    tried: Collection[str],
    chooses: bool,
) -> Unreached:
    roots = {part for source in python for part in source.module.split(".")}
    own = [source for source in python if source.file.name not in beside]
    of_libraries = {s.file.name for s in own if is_installed(s.file.name, libraries)}
    listed = {source.file.name for source in own} - of_libraries
    mentions = [(s.file.name, _of_program(_mentions(s).get(), s.file.name in tried)) for s in python]
    modules = {source.file.name: source.module for source in python}
    finds_modules = any(source.loaded.clues.computes_imports for source in python if source.loaded)
    referring = Referring(index, modules, roots.__contains__, finds_modules)
    texts = list(texts)
    reach = Reach(
        mentions, roots.__contains__, referring, _is_off(switches, modules), texts if chooses else None
    )
    waits = Reach(mentions if of_libraries else (), roots.__contains__, referring, _is_off({}, modules))
    if not any(reach.unmentioned(listed, of_libraries)) and not reach.unreached() and not waits.unreached():
        return NONE_UNREACHED
    words = (word for text in texts for word in _WORD.findall(text))
    named = frozenset(words).union(*(one.commented for _, one in mentions))
    unused: dict[str, list[str]] = {}
    for name, one in reach.unmentioned(listed, of_libraries, named):
        unused.setdefault(name, []).append(one.scope)
    idle = [(name, scope) for name, scopes in unused.items() for scope in scopes]
    off: dict[str, list[tuple[str, str]]] = {}
    for found, files in ((reach, listed), (waits, of_libraries)):
        for (name, scope), why in found.unreached(named, idle).items():
            if name in files:
                off.setdefault(name, []).append((scope, why))
    return Unreached(
        {name: tuple(sorted(scopes)) for name, scopes in unused.items()},
        {name: tuple(sorted(scopes)) for name, scopes in off.items()},
    )


def _configured_in(source: Source) -> Iterator[str]:
    """Yield the classes that a module makes by what configurations and options name."""
    interface = source.loaded.interface if source.loaded else None
    for entry in interface.registries.entries if interface else ():
        if entry.container.endswith(f".{CONFIGURED}"):
            yield entry.name.rpartition(".")[2]


def _is_off(states: Mapping[str, State], modules: Mapping[str, str]) -> Callable[[str, Conditions], str]:
    """Return a function that returns the first of several conditions in a file that never holds, "" for none.
    Where CUDA is missing, the rest of a program goes on only if it has another way."""
    known = {name: StatesInModule(states, module) for name, module in modules.items()}

    def first(name: str, conditions: Conditions) -> str:
        for condition, holds in conditions:
            found = outcome(condition, known[name])
            if found.holds is (not holds) and (condition.other or not found.of_cuda):
                return condition.text if holds else f"not ({condition.text})"
        return ""

    return first


def _of_program(mentions: Mentions, tried: bool) -> Mentions:
    """Return what a module mentions, without the block that only tries out its parts when it is run."""
    blocks = mentions.blocks
    if not tried:
        return mentions
    return mentions._replace(blocks=tuple(block for block in blocks if not _is_of_script(block)))


def _is_of_script(block: Block) -> bool:
    return any(condition.kind == "main" and holds for condition, holds in block.conditions)


def _mentions(source: Source) -> Packed[Mentions]:
    """Return what a source with an interface mentions."""
    assert source.loaded is not None
    assert source.loaded.mentions is not None
    return source.loaded.mentions


def _seals(source: Source) -> tuple[str, str, bool]:
    """Return digests of what a source with an interface mentions and of where its imports lead, and whether
    it computes names of modules."""
    assert source.loaded is not None
    return _mentions(source).seal, source.loaded.seal, source.loaded.clues.computes_imports
