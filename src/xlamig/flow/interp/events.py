"""The events of the interpreter, before the walk adds their surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Protocol

from xlamig import ir
from xlamig.facts import ContextTags, Fact, HostRead, Span, Transfer, Why
from xlamig.findings import Confidence, Frequency
from xlamig.flow.interp.domain import LIKELY

FREQUENCIES: tuple[Frequency, ...] = ("unknown", "once", "epoch", "interval", "step")
_COUNTED: dict[type[Fact], tuple[str, ...]] = {HostRead: ("item", "copy", "format"), Transfer: ("batch",)}
_ORDER = count()
CONFIDENCES: dict[int, Confidence] = {3: "certain", 2: "likely", 1: "possible"}


@dataclass(frozen=True, slots=True)
class Event:
    """A fact to be, of a statement."""

    fact: type[Fact]
    statement: ir.Stmt
    node: ir.Node
    fields: dict[str, Any]  # Any: each kind of fact has its own fields
    sure: int
    frequency: Frequency
    reasons: tuple[Why, ...]
    related: tuple[Why, ...]
    parts: dict[str, Span]
    context: ContextTags
    group: int = 0  # the loop or function whose round it is part of
    arms: Mapping[int, bool] = field(default_factory=dict)  # see AbstractInterpreter
    kept_off: bool = False  # by the options of the project
    order: int = field(default_factory=_ORDER.__next__)  # in which the program ran

    @property
    def key(self) -> tuple[object, ...]:
        """Return what two events of one statement have in common that are one."""
        fields = self.fields
        return self.fact, self.node.start, self.node.end, fields.get("via"), fields.get("name")


HAZARDS = frozenset(
    {
        "boolean",
        "complex",
        "divides-complex",
        "sorted-index",
        "type-name",
        "host-scalar",
        "in-step",
        "unequal-batches",
        "zero-repeats",
    }
)
"""Proofs of failures with some arguments, or of some callers: one run of a function is enough for them."""


def agreed(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """Return what two runs prove of one node."""
    both = {**one, **other}
    return {k: v for k, v in both.items() if k in HAZARDS or one.get(k) == other.get(k) == v}


ALWAYS_PASSED = ("always-passed", "yes")
"""The proof of a default that every call gives another value than it."""


class Recorder:
    """Events by statement. One event for each node and kind: seen in several contexts, the most
    frequent one counts, then the surest."""

    def __init__(self) -> None:
        self.by_statement: dict[int, dict[tuple[object, ...], Event]] = {}
        self.proofs: dict[Span, dict[str, str]] = {}
        # Calls of methods of tensors on the device; of tensors that may be anywhere, what is called.
        self.device_methods: set[Span] = set()

    def prove(self, node: ir.Node, told: Mapping[str, str]) -> None:
        """Record a proof about a node; one that holds every time is a proof that a fix may rely on."""
        self.prove_span((node.start, node.end), told)

    def prove_span(self, span: Span, told: Mapping[str, str]) -> None:
        """Record a proof about the node at a span; those of several runs have to agree, but for hazards."""
        self.proofs[span] = agreed(self.proofs.get(span, told), told)

    def add(self, event: Event) -> None:
        """Add an event; of two with one key the weightier one stays."""
        found = self.by_statement.setdefault(id(event.statement), {})
        old = found.get(event.key)
        if old is None or weight(event) > weight(old):
            found[event.key] = event

    def all(self) -> Iterator[Event]:
        """Yield all events."""
        for found in self.by_statement.values():
            yield from found.values()

    def of(self, statement: ir.Stmt) -> tuple[Event, ...]:
        """Return the events of a statement."""
        found = self.by_statement.get(id(statement))
        return tuple(found.values()) if found else ()

    def forget(self, event: Event) -> None:
        """Takes back what turned out otherwise."""
        if self.holds(event):
            del self.by_statement[id(event.statement)][event.key]

    def holds(self, event: Event) -> bool:
        """Return whether an event is recorded, and not replaced by a weightier one."""
        return self.by_statement.get(id(event.statement), {}).get(event.key) is event

    def change(self, event: Event, **fields: object) -> None:
        """Change fields of a recorded event."""
        self.by_statement[id(event.statement)][event.key] = replace(event, fields={**event.fields, **fields})


_Recorded = tuple[Event, Recorder]


def finish(recorders: Iterable[Recorder]) -> None:
    """Say of reads and copies which of several in one iteration of a step they are, in the order in which
    they run, whichever of the recorders' modules they stand in."""
    recorders = tuple(recorders)
    for fact in (HostRead, Transfer):
        for found in _groups(recorders, fact):
            _number(fact, sorted(found, key=lambda one: one[0].order))
    _note_reads(recorders)


def _note_reads(recorders: tuple[Recorder, ...]) -> None:
    """Mark the copies to the device in whose iterations the host reads values."""
    events = [(event, recorder) for recorder in recorders for event in recorder.all()]
    reading = {event.group for event, _ in events if event.fact is HostRead and event.sure > 1}
    for event, recorder in events:
        if event.fact is Transfer and abs(event.group) in reading:
            recorder.change(event, reads=True)


def _number(fact: type[Fact], found: list[_Recorded]) -> None:
    event, recorder = found[0]
    if fact is Transfer and event.group < 0:
        recorder.change(event, count="several")
        return
    distinct = {event.fields["tensor"]: (event, recorder) for event, recorder in reversed(found)}
    (first, recorder), *others = sorted(distinct.values(), key=lambda one: one[0].order)
    second = next((one for one in others if _both(first, one[0])), None)
    if second is None:
        return
    if fact is HostRead:
        recorder.change(first, nth="first")
        second[1].change(second[0], nth="later")
    else:
        recorder.change(first, count="several")


def _groups(recorders: Iterable[Recorder], fact: type[Fact]) -> Iterable[list[_Recorded]]:
    groups: dict[int, list[_Recorded]] = {}
    for recorder in recorders:
        for event in recorder.all():
            counts = event.fact is fact and event.frequency == "step" and event.sure > 1
            if counts and event.fields.get("boundary") != "after" and event.fields["via"] in _COUNTED[fact]:
                groups.setdefault(event.group, []).append((event, recorder))
    return groups.values()


def _both(one: Event, other: Event) -> bool:
    """Return whether one iteration may come to both: they are not in different branches of one `if`."""
    return all(other.arms.get(at, taken) is taken for at, taken in one.arms.items())


class _Weighed(Protocol):
    @property
    def kept_off(self) -> bool: ...
    @property
    def frequency(self) -> Frequency: ...
    @property
    def sure(self) -> int: ...
    @property
    def fields(self) -> Iterable[Any]: ...  # Any: a mapping or its pairs
    @property
    def reasons(self) -> Sequence[Why]: ...


def weight(event: _Weighed) -> tuple[bool, int, int, bool, int, bool, bool]:
    """Return whether an event happens with the options of the project, then how often, whether it is likely,
    whether a caller in another file gives it more than data from the host, how sure it is, whether it is of
    more than such data, and whether its loop is known: the order in which one replaces another."""
    fields = dict(event.fields)
    more, loop = ("origin", "host") not in fields.items(), "origin" in fields and bool(fields["loop"])
    often, likely = FREQUENCIES.index(event.frequency), min(event.sure, LIKELY)
    called = bool(event.reasons) and event.reasons[0].span is None
    return not event.kept_off, often, likely, more and called, event.sure, more, loop
