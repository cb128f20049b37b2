"""Learning rates, decays and momenta of a port's optimizers against those of its reference."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xlamig.observations import Check, Group, Number, Optimizer, Training


def hyperparameters(port: Training, reference: Training) -> Check:
    """Return the first step in which an optimizer has other numbers than the reference's."""
    title = "optimizers have the reference's hyperparameters"
    pairs = list(zip(port.optimizers, reference.optimizers, strict=False))
    for ours, theirs in pairs:
        for step, found in _differences(ours, theirs):
            advice = "Build the optimizer and its schedule with the reference's values."
            return Check(title, False, f"{found} from step {step} on", advice, "", ours.spot)
    return Check(title, True, "1 optimizer" if len(pairs) == 1 else f"{len(pairs)} optimizers")


def _differences(ours: Optimizer, theirs: Optimizer) -> Iterator[tuple[int, str]]:
    for step in sorted({*ours.hyperparameters, *theirs.hyperparameters}):
        if step > min(ours.steps, theirs.steps):
            return
        mine, other = _in_force(ours, step), _in_force(theirs, step)
        if len(mine) != len(other):
            yield step, f"{ours.type} has {len(mine)} groups of parameters, the reference {len(other)}"
        for at, (one, two) in enumerate(zip(mine, other, strict=False)):
            for name in (name for name in two if name in one and not _equal(one[name], two[name])):
                group = f" in group {at + 1}" if len(other) > 1 else ""
                yield step, f"`{name}` of {ours.type} is {one[name]}{group}, the reference's {two[name]}"


def _in_force(optimizer: Optimizer, step: int) -> tuple[Group, ...]:
    """Return the groups at a step: those of the last step at which they changed."""
    steps = [one for one in optimizer.hyperparameters if one <= step]
    return optimizer.hyperparameters[max(steps)] if steps else ()


def _equal(one: Number, two: Number) -> bool:
    mine, other = (value if isinstance(value, tuple) else (value,) for value in (one, two))
    return len(mine) == len(other) and all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) for a, b in zip(mine, other, strict=True)
    )
