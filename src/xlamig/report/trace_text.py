"""A trace for people: the steps, then a table by line, then what ended the program."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.observations import Event, Failure, Spot, Trace
from xlamig.report import trace_words as words
from xlamig.report.context import Context, one_line
from xlamig.report.lines import split_lines


def render(trace: Trace, context: Context) -> Iterator[str]:
    """The trace as lines. Sources are read through `context`."""
    yield context.paint("strong", words.headline(trace))
    yield from _steps(trace)
    events = [event for event in trace.events if words.is_harm(event)]
    if events:
        yield ""
        for event in events:
            yield from _event(event, trace, context)
    elif trace.steps:
        yield words.NOTHING
    if trace.redirected:
        yield ""
        yield f"Redirected to XLA: {', '.join(f'{name} ({count})' for name, count in trace.redirected)}"
    if trace.left:
        yield ""
        yield f"Not redirected: {', '.join(f'{name} ({count})' for name, count in trace.left)}"
    if trace.failure:
        yield from _failure(trace.failure, context)


def _steps(trace: Trace) -> Iterator[str]:
    yield f"Boundary      {words.at(trace.boundary) if trace.boundary else words.NO_BOUNDARY}"
    if trace.first:
        yield f"First steps   {', '.join(map(str, trace.first))}  (compilations/executions/reads)"
    if steady := words.steady(trace):
        yield f"Steady state  {steady}"


def _event(event: Event, trace: Trace, context: Context) -> Iterator[str]:
    place = words.at(event.spot) if event.spot else words.NO_LINE
    cost = words.cost(event)
    told = f"{words.kind(event)}, {words.often(event, trace)}" + (f": {cost}" if cost else "")
    yield f"{context.paint('place', place)}  {told}"
    rule = f"{event.rule}: " if event.rule else ""
    below = (
        source_line(event.spot, context) if event.spot else "",
        one_line(event.detail),
        f"{rule}{event.message}" if event.message else "",
    )
    for line in filter(None, below):
        yield f"    {line}"


def _failure(failure: Failure, context: Context) -> Iterator[str]:
    told = one_line(failure.summary).removeprefix(failure.type)
    yield ""
    yield f"{context.paint('error', failure.type)}{told}"
    if failure.spot:
        yield f"  at {words.at(failure.spot)}"
        if line := source_line(failure.spot, context):
            yield f"    {line}"
    if failure.advice:
        yield f"  {failure.rule}: {failure.advice}"


def source_line(spot: Spot, context: Context) -> str:
    lines = split_lines(context.text_of(spot.filename) or "")
    return one_line(lines[spot.row - 1].strip()) if spot.row <= len(lines) else ""
