"""A trace for people: the steps, then a table by line, then what ended the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from xlamig.observations import Event, Failure, Spot, Trace
from xlamig.report.context import Context
from xlamig.report.numbers import number

_HEALTHY = (0, 1, 0)
_WORDS = {
    "host-read": "read on the host",
    "dynamic-shape": "shape depends on values",
    "changing-shape": "another shape than before",
    "changing-constant": "another constant than before",
    "changing-path": "another path than before",
    "recompile": "compiled again",
    "operator": "ran on the CPU",
    "execution": "run at once",
    "transfer": "copied to the device",
    "step-boundary": "step boundary",
}
_TIMES = {"step": "every step", "interval": "{} of {} steps", "warm-up": "warm-up", "once": "once"}

Lines = Callable[[str], list[str] | None]


def render(trace: Trace, context: Context) -> Iterator[str]:
    """The trace as lines. Sources are read through `context`."""
    strong = context.paint
    yield strong("strong", _headline(trace))
    yield from _steps(trace)
    events = [event for event in trace.events if event.kind not in ("step-boundary", "transfer")]
    if events:
        yield ""
        for event in events:
            yield from _event(event, trace, context)
    elif trace.steps:
        yield "No line reads, recompiles or falls back."
    yield from _redirected(trace)
    if trace.failure:
        yield from _failure(trace.failure, context)


def _headline(trace: Trace) -> str:
    processes = f", the busiest of {trace.processes} processes" if trace.processes > 1 else ""
    return f"{number(trace.steps, 'step')} on {trace.device}{processes}"


def _steps(trace: Trace) -> Iterator[str]:
    if trace.boundary:
        yield f"Boundary      {_at(trace.boundary)}"
    else:
        yield "Boundary      none: no step was ever sent to the device, the graph only grows"
    if trace.first:
        yield f"First steps   {', '.join(map(str, trace.first))}  (compilations/executions/reads)"
    if trace.steady is not None:
        steady = (trace.steady.compiles, trace.steady.executions, trace.steady.device_to_host)
        verdict = "healthy" if steady == _HEALTHY else "healthy is 0/1/0"
        yield f"Steady state  {trace.steady} per step, {verdict}"
    elif trace.steps:
        yield "Steady state  too few steps to tell"


def _event(event: Event, trace: Trace, context: Context) -> Iterator[str]:
    place = _at(event.spot) if event.spot else "in a library, not called by the program's own lines"
    yield f"{context.paint('place', place)}  {_what(event)}, {_often(event, trace)}: {_cost(event)}"
    if event.spot:
        line = _line(event.spot, context)
        if line:
            yield f"    {line}"
    if event.detail:
        yield f"    {event.detail}"
    if event.message:
        rule = f"{event.rule}: " if event.rule else ""
        yield f"    {rule}{event.message}"


def _what(event: Event) -> str:
    words = _WORDS[event.kind]
    backward = " in the backward pass" if event.through == "backward" else ""
    if event.operators:
        return f"{words} ({', '.join(event.operators)}){backward}"
    return f"{words} ({event.via}){backward}"


def _often(event: Event, trace: Trace) -> str:
    return _TIMES[event.frequency].format(event.steps_seen, trace.steps)


def _cost(event: Event) -> str:
    parts = [
        (event.compiles, "compilation"),
        (event.executions, "execution"),
        (event.device_to_host, "read"),
    ]
    told = [number(count, word) for count, word in parts if count]
    seconds = event.seconds or event.compile_seconds
    return ", ".join(told) + (f", {seconds:.2f} s" if seconds >= 0.005 else "")


def _redirected(trace: Trace) -> Iterator[str]:
    if trace.redirected:
        yield ""
        names = ", ".join(f"{name} ({count})" for name, count in trace.redirected)
        yield f"Redirected to XLA: {names}"


def _failure(failure: Failure, context: Context) -> Iterator[str]:
    yield ""
    message = failure.message.strip().splitlines() or [""]
    yield f"{context.paint('error', failure.type)}: {message[0]}"
    if failure.spot:
        yield f"  at {_at(failure.spot)}"
        yield f"    {_line(failure.spot, context)}"
    if failure.advice:
        yield f"  {failure.rule}: {failure.advice}"


def _at(spot: Spot) -> str:
    return f"{_shown(spot.filename)}:{spot.row}:{spot.column}"


def _shown(filename: str) -> str:
    path = Path(filename)
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _line(spot: Spot, context: Context) -> str:
    text = context.text_of(spot.filename)
    lines: Iterable[str] = text.split("\n") if text else ()
    return next((line.strip() for row, line in enumerate(lines, 1) if row == spot.row), "")
