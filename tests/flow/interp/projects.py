"""The interpreter on programs in several files, analysed as a run does it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from textwrap import dedent

from xlamig.engine.exchange import MAX_ROUNDS, visits_by_module
from xlamig.facts import Fact, Interest
from xlamig.flow import Facts, ProjectIndex, facts_of, summary_of
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.visits import NO_VISIT, Visit
from xlamig.flow.model.callers import NO_CALLERS
from xlamig.syntax import module_from_text

from .said import KINDS


def facts_by_module(texts: Mapping[str, str], rounds: int = MAX_ROUNDS) -> dict[str, list[Fact]]:
    """The interpreter's facts of each module of a project."""
    modules = {name: module_from_text(text) for name, text in texts.items()}
    interfaces = {
        name: summary_of(modules[name], text, name, False).interface for name, text in texts.items()
    }
    index = ProjectIndex(interfaces)
    trees = {
        name: ModuleText(f"{name}.py", text, False, pickle.dumps(modules[name]))
        for name, text in texts.items()
    }
    found: dict[str, Facts] = {}
    visits: Mapping[str, Visit] = {}
    own: Mapping[str, Visit] = {}
    for _ in range(rounds):
        for name, text in texts.items():
            found[name] = facts_of(
                modules[name],
                text,
                name,
                False,
                Interest(),
                interfaces,
                callers=index.callers.get(name, NO_CALLERS),
                texts={other: tree for other, tree in trees.items() if other != name},
                visit=visits.get(name),
            )
        before = visits
        about = {name: facts.visits for name, facts in found.items()}
        own = own or {name: visits.get(name, NO_VISIT) for name, visits in about.items()}
        visits = visits_by_module(about, own)
        if visits == before:
            break
    return {name: [f for f in facts.facts if f.kind in KINDS] for name, facts in found.items()}


def said_of(module: str, rounds: int = MAX_ROUNDS, **texts: str) -> list[str]:
    """Kind, `via` and text of each fact of one module that is at least likely, as in `said.said`."""
    whole = {name: dedent(text) for name, text in texts.items()}
    return [
        f"{f.kind} {getattr(f, 'via', getattr(f, 'boundary', ''))}: {whole[module][slice(*f.span)]}"
        for f in facts_by_module(whole, rounds)[module]
        if f.confidence != "possible"
    ]
