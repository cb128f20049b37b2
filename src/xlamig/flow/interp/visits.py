"""Plain data between analyses: the findings of one module's analysis about the functions of another."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, NamedTuple

from xlamig import ir
from xlamig.facts import ContextTag, Fact, ModuleMove, Span, StepBoundary, Why
from xlamig.findings import Frequency
from xlamig.flow.interp.events import HAZARDS, Event, Recorder, agreed, weight
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.swapping import KEPT, swapping_spans
from xlamig.flow.model.summaries import Portable
from xlamig.knowledge import helpers

Spot = tuple[str, int, int]
"""A node of a module: its type and its offsets."""


class SentEvent(NamedTuple):
    """An event, with spots in place of nodes."""

    fact: type[Fact]
    statement: Spot
    node: Spot
    fields: tuple[tuple[str, Any], ...]  # Any: each kind of fact has its own fields
    sure: int
    frequency: Frequency
    reasons: tuple[Why, ...]
    related: tuple[Why, ...]
    parts: tuple[tuple[str, Span], ...]
    context: tuple[ContextTag, ...]
    group: int
    arms: tuple[tuple[int, bool], ...]
    kept_off: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Return what two events of one module have in common that are one."""
        fields = dict(self.fields)
        return self.fact.__name__, self.node, fields.get("via"), fields.get("name")


class Given(NamedTuple):
    """An argument of the function that starts at an offset."""

    start: int
    parameter: str
    value: Portable


class Visit(NamedTuple):
    """The effects that calls from other modules have in a module.

    `per_step` are the functions and loops whose bodies run every step, by where they start; `reached` are
    the functions that the body of another module runs, with how often; `attributes` are class, name and
    value of what objects hold; `deviceless` are visits by scripts that choose no device; `given` are
    arguments of functions that run every step for the module itself; `guessed` are those that code which
    nothing runs calls with arguments that say nothing, by where they start.
    """

    events: tuple[SentEvent, ...] = ()
    proofs: tuple[tuple[Span, tuple[tuple[str, str], ...]], ...] = ()
    per_step: tuple[int, ...] = ()
    reached: tuple[tuple[int, tuple[str, ...]], ...] = ()
    attributes: tuple[tuple[str, str, Portable], ...] = ()
    device_methods: tuple[Span, ...] = ()  # see Recorder
    deviceless: bool = False
    given: tuple[Given, ...] = ()
    guessed: tuple[int, ...] = ()


NO_VISIT = Visit()
_NOT_SEEN = (False,)
_MAX_VALUES = 8  # of one attribute
_ENDS_STEP = re.compile(rf"\b(?:{helpers.BOUNDARY}|{helpers.WAIT}|sync|mark_step)\b")


def sent(recorder: Recorder) -> tuple[SentEvent, ...]:
    """Return the events of a recorder, in the order of the text."""
    return tuple(sorted(map(_sent, recorder.all()), key=lambda event: (event.node, repr(event))))


def sent_proofs(recorder: Recorder) -> tuple[tuple[Span, tuple[tuple[str, str], ...]], ...]:
    """Return the proofs of a recorder, in the order of the text."""
    return tuple((span, tuple(sorted(told.items()))) for span, told in sorted(recorder.proofs.items()))


def _sent(event: Event) -> SentEvent:
    return SentEvent(
        event.fact,
        _spot(event.statement),
        _spot(event.node),
        tuple(sorted(event.fields.items())),
        event.sure,
        event.frequency,
        event.reasons,
        event.related,
        tuple(sorted(event.parts.items())),
        tuple(sorted(event.context)),
        event.group,
        tuple(sorted(event.arms.items())),
        event.kept_off,
    )


def _spot(node: ir.Node) -> Spot:
    return type(node).__name__, node.start, node.end


def adopt(visit: Visit, recorder: Recorder, module: ir.Module) -> None:
    """Add what other analyses found out about a module to what its own did."""
    recorder.device_methods.update(visit.device_methods)
    for span, told in visit.proofs:
        recorder.prove_span(span, dict(told))
    if not visit.events:
        return
    nodes = {_spot(node): node for node in ir.walk(module)}
    swapping = tuple(swapping_spans(nodes.values()))
    headers = [Loop(node).header for node in nodes.values() if isinstance(node, ir.For | ir.While)]
    nodes |= {_spot(header): header for header in headers}
    for event in visit.events:
        statement = nodes.get(event.statement)
        if isinstance(statement, ir.Stmt) and not _is_kept(event, swapping):
            found = Event(
                event.fact, statement, nodes.get(event.node, statement), dict(event.fields), event.sure,
                event.frequency, event.reasons, event.related, dict(event.parts), frozenset(event.context),
                event.group, dict(event.arms), event.kept_off,
            )  # fmt: skip
            recorder.add(found)


def _is_kept(event: SentEvent, swapping: Iterable[Span]) -> bool:
    """Return whether an event is a move that keeps its parameters in the text as it is now."""
    moves = event.fact is ModuleMove and dict(event.fields)["via"] in KEPT
    return moves and any(start < event.node[1] < end for start, end in swapping)


def _refutes(told: Iterable[tuple[str, str]], proved: set[tuple[str, str]]) -> bool:
    """Return whether what a visit proves of a node lacks what was proved of it, or adds a hazard."""
    different = proved.symmetric_difference(told)
    return any((proof in proved) is (proof[0] not in HAZARDS) for proof in different)


def news(visit: Visit, own: Visit) -> Visit:
    """Return what a visit adds to what a module's own analysis found out; all of it where that will not run
    all functions again."""
    if visit.reached:
        return visit
    known = {event.key: weight(event) for event in own.events}
    proved = {span: set(told) for span, told in own.proofs}
    return Visit(
        tuple(event for event in visit.events if weight(event) > known.get(event.key, _NOT_SEEN)),
        tuple(
            (span, told)
            for span, told in visit.proofs
            if (told if span not in proved else _refutes(told, proved[span]))
        ),
        tuple(start for start in visit.per_step if start not in own.per_step),
        visit.reached,
        tuple(held for held in visit.attributes if held not in own.attributes),
        tuple(span for span in visit.device_methods if span not in own.device_methods),
        visit.deviceless,
        visit.given,
        visit.guessed,
    )


def relocated(visit: Visit, old: str, new: str) -> Visit:
    """Return the same for another text of the module. Left out are what stands in changed lines, and missing
    step boundaries where a line below may now be one."""
    rows = _kept_rows(old, new)
    moved, added_below = _moves(old, new, rows), _additions(new, rows)

    def spot(found: Spot) -> Spot | None:
        span = moved(found[1], found[2])
        return (found[0], *span) if span is not None else None

    events = []
    for event in visit.events:
        statement, node = spot(event.statement), spot(event.node)
        overtaken = event.fact is StepBoundary and node is not None and added_below(node[1])
        if statement is not None and node is not None and not overtaken:
            spans = ((name, moved(*span)) for name, span in event.parts)
            parts = tuple((name, span) for name, span in spans if span is not None)
            events.append(event._replace(statement=statement, node=node, parts=parts))
    proofs = ((moved(*span), told) for span, told in visit.proofs)
    starts = ((moved(start, start), often) for start, often in visit.reached)
    return Visit(
        tuple(events),
        tuple((span, told) for span, told in proofs if span is not None),
        tuple(span[0] for start in visit.per_step if (span := moved(start, start)) is not None),
        tuple((span[0], often) for span, often in starts if span is not None),
        visit.attributes,
        tuple(span for place in visit.device_methods if (span := moved(*place)) is not None),
        visit.deviceless,
        tuple(one._replace(start=span[0]) for one in visit.given if (span := moved(one.start, one.start))),
        tuple(span[0] for start in visit.guessed if (span := moved(start, start)) is not None),
    )


def _kept_rows(old: str, new: str) -> Mapping[int, int]:
    """Return where the lines of the old text stand in the new."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {a + i: b + i for a, b, size in blocks for i in range(size)}


def _starts(text: str) -> list[int]:
    return [0, *accumulate(map(len, text.splitlines(keepends=True)))]


def _moves(old: str, new: str, rows: Mapping[int, int]) -> Callable[[int, int], Span | None]:
    """Return a function from a span of the old text to that of the new; None where its ends changed."""
    starts, others = _starts(old), _starts(new)

    def at(offset: int) -> int | None:
        row = bisect_right(starts, offset) - 1
        return others[rows[row]] + offset - starts[row] if row in rows else None

    def moved(start: int, end: int) -> Span | None:
        first, last = at(start), at(end)
        return (first, last) if first is not None and last is not None else None

    return moved


def _additions(new: str, rows: Mapping[int, int]) -> Callable[[int], bool]:
    """Return whether the top-level statement around an offset of the new text has a new line below it that
    may end a step."""
    starts, lines, kept = _starts(new), new.splitlines(), frozenset(rows.values())
    tops = [row for row, line in enumerate(lines) if line[:1].strip()]

    def added_below(offset: int) -> bool:
        row = bisect_right(starts, offset) - 1
        end = next((top for top in tops if top > row), len(lines))
        return any(below not in kept and _ENDS_STEP.search(lines[below]) for below in range(row + 1, end))

    return added_below


def joined(visits: Iterable[Visit]) -> Visit:
    """Return what several analyses found out about one module as one; their order does not matter."""
    events: dict[tuple[object, ...], SentEvent] = {}
    proofs: dict[Span, Mapping[str, str]] = {}
    per_step: set[int] = set()
    reached: dict[int, set[str]] = {}
    held: dict[tuple[str, str], set[Portable]] = {}
    device_methods: set[Span] = set()
    visits = tuple(visits)
    for visit in visits:
        for event in visit.events:
            old = events.get(event.key)
            if old is None or _preference(event) > _preference(old):
                events[event.key] = event
        for span, told in visit.proofs:
            new = dict(told)
            proofs[span] = agreed(proofs.get(span, new), new)
        per_step.update(visit.per_step)
        device_methods.update(visit.device_methods)
        for start, frequencies in visit.reached:
            reached.setdefault(start, set()).update(frequencies)
        for name, attribute, value in visit.attributes:
            held.setdefault((name, attribute), set()).add(value)
    return Visit(
        tuple(events[key] for key in sorted(events, key=repr)),
        tuple((span, tuple(sorted(told.items()))) for span, told in sorted(proofs.items())),
        tuple(sorted(per_step)),
        tuple((start, tuple(sorted(found))) for start, found in sorted(reached.items())),
        tuple((*key, value) for key in sorted(held) for value in _some(held[key])),
        tuple(sorted(device_methods)),
        bool(reached) and all(visit.deviceless for visit in visits if visit.reached),
        tuple(sorted({given for visit in visits for given in visit.given}, key=repr)),
        tuple(sorted({start for visit in visits for start in visit.guessed})),
    )


def _some(held: set[Portable]) -> list[Portable]:
    """Return the values of an attribute; of many, as many as are kept, without their shapes."""
    kept = held if len(held) <= _MAX_VALUES else {value._replace(shape=None) for value in held}
    return sorted(kept, key=repr)[:_MAX_VALUES]


def _preference(event: SentEvent) -> tuple[object, ...]:
    return *weight(event), repr(event)
