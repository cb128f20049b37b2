"""Words shared by every format of a trace."""

from __future__ import annotations

from pathlib import Path

from xlamig.observations import HEALTHY, QUIET, Event, Spot, Trace
from xlamig.report.context import one_line
from xlamig.report.numbers import number

NO_LINE = "in a library, not called by the program's own lines"
NO_BOUNDARY = "none: no step was ever sent to the device, the graph only grows"
NOTHING = "No line reads, recompiles or falls back."
_KINDS = {
    "host-read": "read on the host",
    "dynamic-shape": "shape depends on values",
    "changing-shape": "recompiled for a new shape",
    "changing-constant": "recompiled for a new constant",
    "changing-path": "recompiled for different operators",
    "recompile": "recompiled",
    "operator": "ran on the CPU",
    "unsupported-operator": "has no kernel",
    "execution": "run at once",
    "transfer": "copied to the device",
    "step-boundary": "step boundary",
}
_TIMES = {
    "step": "every step",
    "interval": "{} of {} steps",
    "warm-up": "in the first steps",
    "once": "in one step",
}


def is_harm(event: Event) -> bool:
    """Return whether it belongs to no step that runs well."""
    return event.kind not in QUIET


def headline(trace: Trace) -> str:
    processes = f", the busiest of {trace.processes} processes" if trace.processes > 1 else ""
    return f"{number(trace.steps, 'step')} on {one_line(trace.device)}{processes}"


def steady(trace: Trace) -> str:
    """Empty for a program without steps."""
    if trace.steady is None:
        return "too few steps to tell" if trace.steps else ""
    return f"{trace.steady} per step, {'healthy' if is_healthy(trace) else f'healthy is {HEALTHY}'}"


def is_healthy(trace: Trace) -> bool:
    return trace.steady == HEALTHY


def kind(event: Event) -> str:
    """With what it was done through: `read on the host (item) in the backward pass`."""
    how = ", ".join(event.operators) or event.via
    backward = " in the backward pass" if event.through == "backward" else ""
    here = ", on XLA's CPU client only" if event.client_only else ""
    return f"{_KINDS[event.kind]} ({one_line(how)}){backward}{here}"


def often(event: Event, trace: Trace) -> str:
    return _TIMES[event.frequency].format(event.steps_seen, trace.steps)


def seconds_waited(event: Event) -> float:
    """Seconds. Those of a recompilation are known only where the graph was compiled."""
    return event.seconds or event.compile_seconds


def seconds(value: float) -> str:
    """Empty for what is too short to say."""
    return f"{value:.2f} s" if value >= 0.005 else ""


def cost(event: Event) -> str:
    counts = [
        (event.compiles, "compilation"),
        (event.executions, "execution"),
        (event.device_to_host, "read"),
        (event.host_to_device * (event.kind == "transfer"), "transfer"),
    ]
    told = [number(count, word) for count, word in counts if count]
    return ", ".join(filter(None, [*told, seconds(seconds_waited(event))]))


def at(spot: Spot) -> str:
    return f"{path(spot.filename)}:{spot.row}:{spot.column}"


def path(filename: str) -> str:
    return one_line(relative(filename))


def relative(filename: str) -> str:
    """From the working directory, where it lies in that."""
    name = Path(filename)
    try:
        return name.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return name.as_posix()
