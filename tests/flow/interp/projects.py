"""The interpreter on programs in several files, analysed as a run does it."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from xlamig.engine.exchange import MAX_ROUNDS, contexts_by_module
from xlamig.facts import Fact, Interest
from xlamig.flow import Facts, ProjectIndex, facts_of, summary_of
from xlamig.syntax import module_from_text

from .said import KINDS


def facts_by_module(texts: Mapping[str, str], rounds: int = MAX_ROUNDS) -> dict[str, list[Fact]]:
    """The interpreter's facts of each module of a project."""
    modules = {name: module_from_text(text) for name, text in texts.items()}
    interfaces = {
        name: summary_of(modules[name], text, name, False).interface for name, text in texts.items()
    }
    index = ProjectIndex(interfaces)
    found: dict[str, Facts] = {}
    contexts: Mapping[str, object] = {}
    for _ in range(rounds):
        for name, text in texts.items():
            found[name] = facts_of(
                modules[name],
                text,
                name,
                False,
                Interest(),
                interfaces,
                called=index.called_in_steps.get(name, {}),
                contexts=contexts.get(name, ()),  # type: ignore[arg-type]
            )
        before = contexts
        contexts = contexts_by_module((call for facts in found.values() for call in facts.calls), index)
        if contexts == before:
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
