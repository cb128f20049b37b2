"""What a finished port has to show in a run of a few steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from xlamig.observations import HEALTHY, Trace, Training
from xlamig.observe.run import Run

COMPARED = 3  # losses; later ones drift apart by rounding alone


class Check(NamedTuple):
    title: str
    passed: bool
    found: str


def checks(run: Run, reference: Run | None, tolerance: float) -> Iterator[Check]:
    """`reference` is a run of the same program on the CPU; its losses are the expected ones."""
    trace = run.trace
    yield Check("the program ends without an error", run.exit.code == 0, _ending(run))
    if trace is None:
        yield Check("it uses the XLA device", False, "torch_xla is never imported")
        return
    executed = trace.totals.executions > 0
    yield Check("it uses the XLA device", executed, f"{trace.totals.executions:g} executions")
    yield _steady(trace)
    yield _fallbacks(trace)
    yield _trains(trace.training)
    if reference is not None:
        expected = reference.trace.training if reference.trace else None
        yield _same(trace.training, expected, tolerance)


def _ending(run: Run) -> str:
    if run.exit.killed_by:
        return f"ended by {run.exit.killed_by}"
    failure = run.trace and run.trace.failure
    return failure.summary if failure else f"exit code {run.exit.code}"


def _steady(trace: Trace) -> Check:
    title = "each step is one graph that is never read"
    cost = trace.steady
    if cost is None:
        return Check(title, False, f"{trace.steps} steps are too few to tell")
    return Check(title, cost == HEALTHY, f"{cost} per step, healthy is {HEALTHY}")


def _fallbacks(trace: Trace) -> Check:
    names = {name for event in trace.events if event.frequency == "step" for name in event.operators}
    return Check(
        "no operator of the step runs on the CPU", not names, ", ".join(sorted(names)) or "none does"
    )


def _trains(training: Training | None) -> Check:
    title = "the parameters change"
    if training is None or not training.parameters:
        return Check(title, False, "no optimizer ever stepped")
    on = f"{training.changed} of {training.parameters} did, on {', '.join(training.devices)}"
    return Check(title, training.changed > 0 and training.devices == ("xla",), on)


def _same(training: Training | None, expected: Training | None, tolerance: float) -> Check:
    title = "the losses are those of the CPU"
    pairs = list(zip(training.losses, expected.losses, strict=False)) if training and expected else []
    if not pairs:
        return Check(title, False, "there is no loss to compare")
    worst = max(abs(a - b) / max(abs(b), 1e-12) for a, b in pairs[:COMPARED])
    told = f"the first {min(len(pairs), COMPARED)} differ by up to {worst:.2g}, {tolerance:g} is allowed"
    return Check(title, math.isfinite(worst) and worst <= tolerance, told)
