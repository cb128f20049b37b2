"""Facts of what the interpreter met, with what surrounds each statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig.facts import Fact
from xlamig.flow.interp.events import CONFIDENCES, Event
from xlamig.flow.site import Place


def met(events: Iterable[Event], place: Place) -> Iterator[Fact]:
    """The facts of a statement's events."""
    for event in events:
        fields = place.fields(event.node)
        fields["frequency"] = event.frequency
        fields["confidence"] = CONFIDENCES[event.sure]
        fields["context"] = place.context | event.context
        fields["reasons"] = (*place.reasons, *event.reasons)
        fields["related"] = event.related
        fields["parts"] = event.parts
        yield event.fact(**fields, **event.fields)
