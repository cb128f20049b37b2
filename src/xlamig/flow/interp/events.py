"""What the interpreter has to say of a place, before the walk adds what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xlamig import ir
from xlamig.facts import Fact, Span, Why
from xlamig.findings import Confidence, Frequency

FREQUENCIES: tuple[Frequency, ...] = ("unknown", "once", "epoch", "interval", "step")
CONFIDENCES: dict[int, Confidence] = {3: "certain", 2: "likely", 1: "possible"}


@dataclass(frozen=True, slots=True)
class Event:
    """A fact to be, found in `statement`. `order` is when it was first met."""

    fact: type[Fact]
    node: ir.Node
    fields: dict[str, Any]
    sure: int
    frequency: Frequency
    reasons: tuple[Why, ...]
    related: tuple[Why, ...]
    parts: dict[str, Span]
    context: frozenset[str]


class Recorder:
    """Events by statement. One event for each node and kind: seen in several contexts, the most
    frequent one counts, then the surest."""

    def __init__(self) -> None:
        self.by_statement: dict[int, dict[tuple[Any, ...], Event]] = {}

    def add(self, statement: ir.Stmt, event: Event) -> None:
        found = self.by_statement.setdefault(id(statement), {})
        key = (event.fact, event.node.start, event.node.end, event.fields.get("via"))
        old = found.get(key)
        if old is None or _weight(event) > _weight(old):
            found[key] = event

    def of(self, statement: ir.Stmt) -> tuple[Event, ...]:
        found = self.by_statement.get(id(statement))
        return tuple(found.values()) if found else ()

    def change(self, statement: ir.Stmt, event: Event, **fields: Any) -> None:
        """Says more of an event that is there."""
        found = self.by_statement.get(id(statement), {})
        for key, old in found.items():
            if old.node is event.node and old.fact is event.fact:
                found[key] = replace(old, fields={**old.fields, **fields})


def _weight(event: Event) -> tuple[int, int]:
    return FREQUENCIES.index(event.frequency), event.sure
