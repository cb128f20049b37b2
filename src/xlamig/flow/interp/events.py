"""The events of the interpreter, before the walk adds their surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from xlamig import ir
from xlamig.facts import ContextTags, Fact, HostRead, Span, Transfer, Why
from xlamig.findings import Confidence, Frequency

FREQUENCIES: tuple[Frequency, ...] = ("unknown", "once", "epoch", "interval", "step")
_COUNTED: dict[type[Fact], tuple[str, ...]] = {HostRead: ("item", "copy", "format"), Transfer: ("batch",)}
CONFIDENCES: dict[int, Confidence] = {3: "certain", 2: "likely", 1: "possible"}


@dataclass(frozen=True, slots=True)
class Event:
    """A fact to be, of a statement."""

    fact: type[Fact]
    statement: ir.Stmt
    node: ir.Node
    fields: dict[str, Any]
    sure: int
    frequency: Frequency
    reasons: tuple[Why, ...]
    related: tuple[Why, ...]
    parts: dict[str, Span]
    context: ContextTags
    group: int = 0  # the loop or function whose round it is part of
    arms: Mapping[int, bool] = field(default_factory=dict)  # see AbstractInterpreter

    @property
    def key(self) -> tuple[Any, ...]:
        return self.fact, self.node.start, self.node.end, self.fields.get("via")


class Recorder:
    """Events by statement. One event for each node and kind: seen in several contexts, the most
    frequent one counts, then the surest."""

    def __init__(self) -> None:
        self.by_statement: dict[int, dict[tuple[Any, ...], Event]] = {}
        self.proofs: dict[Span, dict[str, str]] = {}
        self.device_methods: set[Span] = set()  # calls of methods of tensors on the device

    def prove(self, node: ir.Node, told: Mapping[str, str]) -> None:
        """Record a proof about a node; one that holds every time is a proof that a fix may rely on."""
        self.prove_span((node.start, node.end), told)

    def prove_span(self, span: Span, told: Mapping[str, str]) -> None:
        known = self.proofs.get(span)
        same = told if known is None else {k: v for k, v in known.items() if told.get(k) == v}
        self.proofs[span] = dict(same)

    def add(self, event: Event) -> None:
        found = self.by_statement.setdefault(id(event.statement), {})
        old = found.get(event.key)
        if old is None or weight(event) > weight(old):
            found[event.key] = event

    def all(self) -> Iterator[Event]:
        for found in self.by_statement.values():
            yield from found.values()

    def of(self, statement: ir.Stmt) -> tuple[Event, ...]:
        found = self.by_statement.get(id(statement))
        return tuple(found.values()) if found else ()

    def forget(self, event: Event) -> None:
        """Takes back what turned out otherwise."""
        found = self.by_statement.get(id(event.statement), {})
        if found.get(event.key) is event:
            del found[event.key]

    def finish(self) -> None:
        """Says of reads and copies which of several in one iteration of a step they are."""
        for fact, name in ((HostRead, "tensor"), (Transfer, "tensor")):
            for events in self._groups(fact):
                if fact is Transfer and events[0].group < 0:
                    self._change(events[0], count="several")
                    continue
                distinct = {event.fields[name]: event for event in reversed(events)}
                if len(distinct) < 2:
                    continue
                first, *others = sorted(distinct.values(), key=lambda e: e.node.start)
                second = next((event for event in others if _both(first, event)), None)
                if second is None:
                    continue
                if fact is HostRead:
                    self._change(first, nth="first")
                    self._change(second, nth="later")
                else:
                    self._change(first, count="several")

    def _groups(self, fact: type[Fact]) -> Iterable[list[Event]]:
        groups: dict[int, list[Event]] = {}
        for event in self.all():
            counts = event.fact is fact and event.frequency == "step" and event.sure > 1
            if counts and event.fields.get("boundary") != "after" and event.fields["via"] in _COUNTED[fact]:
                groups.setdefault(event.group, []).append(event)
        return groups.values()

    def _change(self, event: Event, **fields: Any) -> None:
        self.by_statement[id(event.statement)][event.key] = replace(event, fields={**event.fields, **fields})


def _both(one: Event, other: Event) -> bool:
    """Return whether one iteration may come to both: they are not in different branches of one `if`."""
    return all(other.arms.get(at, taken) is taken for at, taken in one.arms.items())


class _Weighed(Protocol):
    @property
    def frequency(self) -> Frequency: ...
    @property
    def sure(self) -> int: ...


def weight(event: _Weighed) -> tuple[int, int]:
    return FREQUENCIES.index(event.frequency), event.sure
