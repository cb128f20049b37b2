"""Shared code of the tests of artifacts."""

from __future__ import annotations

from xlamig.artifacts import facts_of
from xlamig.facts import Environment, Fact, Interest, Package, ToolEvent

KINDS = frozenset({"package", "environment", "tool", "kernel"})


def facts(text: str, kind: str, *names: str) -> list[Fact]:
    """The facts of a file, where the rules ask about these names of its surroundings."""
    interest = Interest(kinds=KINDS, surroundings=frozenset(names))
    found = facts_of(text, kind, interest, frozenset())
    for fact in found:
        assert 0 <= fact.span[0] <= fact.span[1] <= len(text)
    return found


def packages(text: str, kind: str) -> list[tuple[str, str]]:
    """(name, version) of every requirement."""
    return [(f.name, f.version) for f in facts(text, kind) if isinstance(f, Package)]


def placed(text: str, kind: str) -> dict[str, str]:
    """The text that each requirement's place covers."""
    return {f.name: text[slice(*f.span)] for f in facts(text, kind) if isinstance(f, Package)}


def settings(text: str, kind: str, *names: str) -> list[tuple[str, str, str]]:
    """(what, name, value) of everything that surrounds the program."""
    found = [f for f in facts(text, kind, *names) if isinstance(f, Environment)]
    return [(f.what, f.name, str(f.value.value) if f.value else "") for f in found]


def malformed(text: str, kind: str) -> list[tuple[int, str]]:
    """Row and message of what cannot be read."""
    found = [f for f in facts(text, kind) if isinstance(f, ToolEvent)]
    return [(text.count("\n", 0, f.span[0]) + 1, f.subject) for f in found]
