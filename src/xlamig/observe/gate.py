"""The requirements for a finished port in a run of a few steps."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.observations import HEALTHY, Check, Cost, Event, Trace, Training
from xlamig.observe import compare
from xlamig.observe.checks import first_few
from xlamig.observe.run import Run


def checks(run: Run, references: tuple[Training, Training] | None, tolerance: float) -> Iterator[Check]:
    """`references` are two runs on the CPU, of which one was disturbed as by rounding."""
    trace = run.trace
    yield ending(run, "the program ends without an error")
    if trace is None or not trace.totals.executions:
        advice = "Move the model and the batches to `torch_xla.device()`."
        yield Check("it uses the XLA device", False, "nothing ran on it", advice)
        return
    yield Check("it uses the XLA device", True, f"{trace.totals.executions:g} executions")
    yield _steady(trace)
    yield _fallbacks(trace)
    training = trace.training
    if training is None or not training.optimizers:
        advice = "Run a program that trains, for at least one step."
        yield Check("it trains", False, "no optimizer took a step", advice)
        return
    yield from _trains(training)
    yield from _saves(training)
    if references is not None:
        yield from compare.checks(training, *references, tolerance)


def ending(run: Run, title: str) -> Check:
    """How a run ended."""
    failure = run.trace and run.trace.failure
    if run.exit.killed_by:
        advice = "SIGKILL is often a lack of memory: use a smaller batch."
        return Check(title, False, f"ended by {run.exit.killed_by}", advice)
    if failure and run.exit.code:
        advice = failure.advice or "Run `xlamig trace` with the same arguments to see what led there."
        return Check(title, False, failure.summary, advice, failure.rule, failure.spot)
    return Check(title, run.exit.code == 0, f"exit code {run.exit.code}", "Make the program exit with 0.")


def _steady(trace: Trace) -> Check:
    title = "each step is one graph that is never read"
    cost = trace.steady
    if cost is None:
        found = f"{trace.steps} steps are too few to tell"
        return Check(title, False, found, "End each step with `torch_xla.sync()`.", "XLA401")
    found = f"{cost} per step, healthy is {HEALTHY}"
    costly = [event for event in trace.events if _costs_each_step(event, cost)]
    worst = next((event for event in costly if not event.client_only), None)
    if costly and worst is None and cost.compiles == 0:
        return Check(title, True, f"{found}; only XLA's CPU client falls back, a TPU does not")
    if cost == HEALTHY or worst is None:
        return Check(title, cost == HEALTHY, found, "Run `xlamig trace` to see which line it is.")
    return Check(title, False, found, worst.message, worst.rule, worst.spot)


def _costs_each_step(event: Event, steady: Cost) -> bool:
    """Return whether an event is part of the steady state, in which `verify` itself recompiles nothing."""
    if steady.compiles == 0 and not (event.executions or event.device_to_host):
        return False
    return event.frequency in ("step", "interval") and event.kind not in ("step-boundary", "transfer")


def _fallbacks(trace: Trace) -> Check:
    title = "no operator of the step runs on the CPU"
    events = [event for event in trace.events if event.frequency == "step" and event.operators]
    real = [event for event in events if not event.client_only]
    names = sorted({name for event in real for name in event.operators})
    if real:
        return Check(title, False, first_few(names), real[0].message, real[0].rule, real[0].spot)
    only = sorted({name for event in events for name in event.operators})
    return Check(title, True, f"none on a TPU; {first_few(only)} here, without one" if only else "none does")


def _trains(training: Training) -> Iterator[Check]:
    held = [one for one in (*training.parameters, *training.strangers) if one.held]
    lost = [one.name or "a parameter" for one in training.strangers]
    place = training.optimizers[0].spot
    advice = "Move the model to the device before the optimizer is built from its parameters."
    yield Check(
        "the optimizer holds the model's parameters", not lost,
        f"{first_few(lost)} belong to no module any more" if lost else f"{len(held)} of them",
        advice, "XLA405", place,
    )  # fmt: skip
    changed = [one for one in held if one.change and any(one.change)]
    still = [one.name for one in held if one.has_gradient and one not in changed]
    devices = ", ".join(sorted({one.device for one in held}))
    found = f"{len(changed)} of {len(held)} did, on {devices}" + (
        f"; not {first_few(still)}" if still else ""
    )
    yield Check(
        "the parameters change",
        bool(changed) and not still and devices == "xla",
        found,
        advice,
        "XLA405",
        place,
    )


def _saves(training: Training) -> Iterator[Check]:
    yield Check(
        "the state can be saved and loaded", not training.unsaved,
        ", ".join(training.unsaved) or "it is the same afterwards",
        "Make every buffer a tensor that `state_dict` returns, and load while no graph holds the parameters.",
    )  # fmt: skip
    on_xla = [saved.spot for saved in training.saved if saved.on_xla]
    if training.saved:
        found = f"{len(on_xla)} of {len(training.saved)} hold XLA tensors, which only torch_xla loads"
        advice = "Use `xm.save`, or move the state to the CPU first."
        spot = on_xla[0] if on_xla else None
        yield Check("checkpoints hold tensors of the CPU", not on_xla, found, advice, "XLA906", spot)
