"""Compare the effect of training on every tensor of a port: parameters, buffers and averages beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xlamig.observations import Check, Mark, Training
from xlamig.observe.checks import differ
from xlamig.observe.marks import CHAOS, ZERO, distance

CHANGE = 0.1  # relative difference of what training did to a tensor
FIRST_CHANGE = 0.25  # of what one step did to it
UNTOUCHED = 1e-5  # of a tensor's norm
_OWNER = re.compile(r"(?:variable )?[^.\[]+")

Changes = Mapping[str, Mark]


def after_all_steps(port: Training, reference: Training, shaken: Training) -> Check:
    changes = _changes(port), _changes(reference), _changes(shaken)
    common = [name for name in changes[1] if name in changes[0] and name in changes[2]]
    other = [name for name in common if _differs(name, *changes, CHANGE, reference)]
    steps = max(one.steps for one in port.optimizers)
    found = differ(other) if other else f"{len(common)} tensors"
    advice = "Compare learning rate, schedule, weight decay, clipping and averaging with the reference."
    return Check(f"{steps} steps do the same to each tensor", not other, found, advice)


def after_one_step(port: Training, reference: Training, shaken: Training) -> Iterator[Check]:
    """An average that is updated too early, or not at all, differs most in the first step.

    An owner fails if most of its tensors differ: one may be chaotic, such as a bias before a softmax.
    """
    changes = [_since_start(one, one.after_one) for one in (port, reference, shaken)]
    trained = {one.name for one in (*port.parameters, *reference.parameters) if one.held}
    kept = {one.name for one in reference.parameters} - trained
    owners: dict[str, list[bool]] = {}
    for name in changes[1]:
        is_kept = name in kept or name.startswith("variable ")
        if is_kept and name in changes[0] and name in changes[2] and (owner := _OWNER.match(name)):
            differs = _differs(name, changes[0], changes[1], changes[2], FIRST_CHANGE, reference)
            owners.setdefault(owner[0], []).append(differs)
    if not owners:
        return
    other = [owner for owner, differing in owners.items() if 2 * sum(differing) > len(differing)]
    found = differ(other) if other else f"{sum(map(len, owners.values()))} tensors"
    advice = "Update averages and copies of the weights where the reference does, after `optimizer.step()`."
    yield Check("one step does the same to what is kept beside the weights", not other, found, advice)


def _differs(
    name: str, ours: Changes, theirs: Changes, disturbed: Changes, share: float, reference: Training
) -> bool:
    allowed = max(
        share * max(map(abs, theirs[name])),
        CHAOS * distance(disturbed[name], theirs[name]),
        UNTOUCHED * (1e-3 + reference.started.get(name, ZERO)[0]),
    )
    return distance(ours[name], theirs[name]) > allowed


def _changes(training: Training) -> dict[str, Mark]:
    exact = {one.name: one.change for one in training.parameters if one.change}
    return _since_start(training, training.state) | exact


def _since_start(training: Training, state: Mapping[str, Mark]) -> dict[str, Mark]:
    start = training.started
    return {
        name: (mark[0] - start[name][0], mark[1] - start[name][1])
        for name, mark in state.items()
        if name in start
    }
