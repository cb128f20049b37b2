"""Facts of what the interpreter met, with what surrounds each statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.facts import Fact, HostRead, Span
from xlamig.flow.detectors.consumers import use_of
from xlamig.flow.detectors.in_scope import device_in_scope
from xlamig.flow.interp.events import CONFIDENCES, Event
from xlamig.flow.model.site import CodeContext


def facts_of_events(
    events: Iterable[Event],
    place: CodeContext,
    proofs: Mapping[Span, Mapping[str, str]],
    statement: ir.Stmt,
    rest: Sequence[ir.Stmt],
) -> Iterator[Fact]:
    """The facts of a statement's events; `proofs` are those of the nodes, `rest` comes after it."""
    for event in events:
        fields = place.fields(event.node)
        fields["frequency"] = event.frequency
        fields["confidence"] = CONFIDENCES[event.sure]
        fields["context"] = place.context | event.context
        fields["reasons"] = (*place.reasons, *event.reasons)
        fields["related"] = event.related
        fields["parts"] = event.parts
        fields["proofs"] = {**device_in_scope(place, event.node.start), **proofs.get(fields["span"], {})}
        use = use_of(event.node, statement, rest)._asdict() if event.fact is HostRead else {}
        yield event.fact(**fields, **event.fields, **use)
