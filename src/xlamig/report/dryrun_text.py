"""A dry run for people: operators without a kernel first, by line, then what else costs."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.observations import Event, EventKind, Trace
from xlamig.report.context import Context, one_line
from xlamig.report.numbers import number
from xlamig.report.trace_words import NO_LINE, at

_TITLES: dict[EventKind, str] = {
    "unsupported-operator": "Operators without a kernel",
    "dynamic-shape": "Shapes that depend on values",
    "host-read": "Host reads",
}
CAVEAT = "Operators were built, not run: values are made up, and nothing was compared with a TPU."


def render(trace: Trace, context: Context) -> Iterator[str]:
    yield f"{number(trace.steps, 'step')} on {one_line(trace.device)}"
    yield CAVEAT
    for kind, title in _TITLES.items():
        events = [event for event in trace.events if event.kind == kind]
        yield from ("", f"{context.paint('strong', title)}: {len(events) or 'none'}")
        yield from (f"  {line}" for event in events for line in _event(event, context))
    if trace.failure:
        message = (trace.failure.message.strip().splitlines() or [""])[0]
        where = f"{at(trace.failure.spot)}: " if trace.failure.spot else ""
        yield from ("", f"The program ended early: {where}{trace.failure.type}: {one_line(message)}")


def _event(event: Event, context: Context) -> Iterator[str]:
    place = at(event.spot) if event.spot else NO_LINE
    operators = ", ".join(event.operators) if event.via != "item" else "item"
    yield f"{context.paint('place', place)}  {operators}, {number(event.count, 'call')}"
    if event.kind == "unsupported-operator":
        yield f"    {one_line(event.detail)}"
