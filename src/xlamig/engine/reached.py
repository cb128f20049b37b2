"""Settle what the options of a program are and which of its functions run: each depends on the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xlamig.engine.cache import Cache
from xlamig.engine.installed import library_files
from xlamig.engine.remembered import Answers
from xlamig.engine.source import Source
from xlamig.engine.switches import switches_of
from xlamig.engine.unmentioned import Unreached, unreached_scopes
from xlamig.findings import Aside
from xlamig.flow import ProjectIndex
from xlamig.flow.model.outcomes import State


def states_and_reach(
    sources: Collection[Source],
    index: ProjectIndex,
    asides: Mapping[str, Aside],
    beside: Collection[str],
    answers: Answers,
    cache: Cache,
) -> tuple[Mapping[str, State], Unreached]:
    """Return the states of the options and what nothing runs. What functions assign that nothing mentions
    counts for no option, so the states are found again without it."""
    public = library_files(sources, index)
    imported = index.import_depths.keys()
    states = switches_of(sources, asides, answers.switches, cache, public, imported=imported)
    found = unreached_scopes(sources, index, beside, states, cache)
    idle = found.unmentioned
    if any(_assigns(source, idle.get(source.file.name, ())) for source in sources):
        states = switches_of(sources, asides, answers.reached_switches, cache, public, idle, imported)
        found = unreached_scopes(sources, index, beside, states, cache)
    return states, found


def _assigns(source: Source, scopes: Collection[str]) -> bool:
    """Return whether functions and classes of a file assign to what may be an option."""
    given = source.loaded.given if source.loaded and scopes else None
    return given is not None and bool(given.get().assigned_in(scopes))
