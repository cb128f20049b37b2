"""Runs a port and its reference, and holds one against the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from xlamig.observations import Check, Operation, Training
from xlamig.observe import gate
from xlamig.observe import run as runs
from xlamig.observe.difference import Difference, first_difference
from xlamig.observe.launch import LaunchError, Program

_COMPUTES = ("the losses", "the gradients", "evaluation")
_STEPS = "steps do the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`original` is a program for CUDA, or a folder in which the same program is one."""

    steps: int
    compare: bool
    original: str | None
    tolerance: float
    locate: bool = True  # run both again for the first line that differs


def verify(port: Program, asked: Asked) -> list[Check]:
    """Raises LaunchError for programs that cannot be started."""
    if not asked.compare:
        return list(gate.checks(_port(port, asked.steps), None, asked.tolerance))
    reference = _original(port, asked.original)
    settings = runs.Asked(
        steps=asked.steps, on_cpu=True, as_cuda=asked.original is not None, training=True, until_moved=True
    )
    expected = runs.run(reference, settings)
    trained = expected.trace.training if expected.trace else None
    if expected.exit.code or trained is None or not trained.optimizers:
        ended = gate.ending(expected, "the reference runs on the CPU")
        return [ended, *gate.checks(_port(port, asked.steps), None, asked.tolerance)]
    steps = max(one.steps for one in trained.optimizers)
    ours = _port(port, steps)
    settings = replace(settings, steps=steps, until_moved=False)
    shaken = runs.run(reference, replace(settings, perturb=True)).trace
    references = (trained, shaken.training if shaken and shaken.training else trained)
    checks = list(gate.checks(ours, references, asked.tolerance))
    if not asked.locate:
        return checks
    return _locate_difference(checks, port, reference, settings, asked.tolerance)


def _port(port: Program, steps: int) -> runs.Run:
    return runs.run(port, runs.Asked(steps=steps, training=True))


def _original(port: Program, original: str | None) -> Program:
    if original is None:
        return port
    path = Path(original)
    if path.is_dir():
        return replace(port, folder=path)
    if not path.is_file():
        raise LaunchError(f"no such file: {original}")
    return replace(port, target=original, module=False)


def _locate_difference(
    checks: list[Check], port: Program, reference: Program, settings: runs.Asked, tolerance: float
) -> list[Check]:
    """With the first line that computes something else, where losses, gradients or outputs differ."""
    failed = [check for check in checks if not check.passed and check.title.startswith(_COMPUTES)]
    if not failed:
        return checks
    step = min((check.step for check in failed if check.step), default=1)
    locating = replace(settings, steps=step, locate=step)
    theirs = _operations(runs.run(reference, locating))
    ours = _operations(runs.run(port, replace(locating, on_cpu=False, as_cuda=False)))
    found = first_difference(ours, theirs, tolerance)
    return [_with(check, found) if found and check is failed[0] else check for check in checks]


def _operations(run: runs.Run) -> tuple[Operation, ...]:
    training: Training | None = run.trace.training if run.trace else None
    return training.operations if training else ()


def _with(check: Check, found: Difference) -> Check:
    one = found.port or found.reference
    assert one is not None
    there = found.reference.spot if found.reference else None
    also = (
        f"; the reference's is {there.filename}:{there.row}" if there and one is not found.reference else ""
    )
    side = "here" if found.port else "in the reference only"
    return replace(
        check, spot=one.spot, found=f"{check.found}; the first difference is in `{one.name}` {side}{also}"
    )
