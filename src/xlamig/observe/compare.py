"""A port held against its reference: parameters, losses, gradients, state, outputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from statistics import median

from xlamig.observations import Check, Mark, Training
from xlamig.observe.checks import differ, first_few
from xlamig.observe.diagnose import gradient_advice
from xlamig.observe.hyperparameters import hyperparameters
from xlamig.observe.marks import CHAOS, ZERO, distance
from xlamig.observe.naming import rename_parts
from xlamig.observe.state import after_all_steps, after_one_step

FAINT = 1e-4  # of the largest gradient: smaller ones are rounding
SAME_START = 1e-3


def checks(port: Training, reference: Training, shaken: Training, tolerance: float) -> Iterator[Check]:
    """`shaken` is the reference with disturbed gradients: what differs there, too, proves nothing."""
    port, shaken = rename_parts(port, reference), rename_parts(shaken, reference)
    yield _parameters(port, reference)
    if reference.ties or port.ties:
        yield _ties(port, reference)
    yield _pace(port, reference)
    yield hyperparameters(port, reference)
    yield _start(port, reference)
    yield _losses(port, reference, shaken, tolerance)
    yield _gradients(port, reference, shaken, tolerance)
    yield _trained_check(port, reference)
    yield from after_one_step(port, reference, shaken)
    yield after_all_steps(port, reference, shaken)
    yield from _outputs(port, reference, shaken, tolerance)


def _describe_groups(*parts: tuple[Iterable[str], str]) -> str:
    """Each list of names with what is wrong with them, those that are empty left out."""
    named = [(list(names), what) for names, what in parts]
    return "; ".join(f"{first_few(names)} {what}" for names, what in named if names)


def _parameters(port: Training, reference: Training) -> Check:
    ours = {one.name: one.shape for one in port.parameters}
    theirs = {one.name: one.shape for one in reference.parameters}
    found = _describe_groups(
        ((name for name in theirs if name not in ours), "missing"),
        ((name for name in ours if name not in theirs), "only here"),
        ((name for name in ours if ours[name] != theirs.get(name, ours[name])), "of another shape"),
    )
    advice = "Build the model from the same modules as the reference."
    return Check(
        "it has the reference's parameters", not found, found or f"{len(ours)} of {len(theirs)}", advice
    )


def _ties(port: Training, reference: Training) -> Check:
    common = {one.name for one in port.parameters} & {one.name for one in reference.parameters}
    lost = [group for group in reference.ties if group not in port.ties and common.issuperset(group)]
    new = [group for group in port.ties if group not in reference.ties and common.issuperset(group)]
    found = "; ".join(
        [
            f"{first_few(list(group))} are one parameter in the reference and {len(group)} here"
            for group in lost
        ]
        + [f"{first_few(list(group))} are one parameter here only" for group in new]
    )
    advice = "Tie them again after `model.to(device)`, which splits a tied parameter in two."
    told = found or f"{len(port.ties)} {'group' if len(port.ties) == 1 else 'groups'} of tied parameters"
    return Check("the same parameters are tied", not found, told, advice, "XLA406")


def _pace(port: Training, reference: Training) -> Check:
    ours, theirs = _calls(port), _calls(reference)
    found = ours if ours == theirs else f"{ours}; the reference: {theirs}"
    advice = "Call `backward` and `step` as often, and on the same optimizers, as the reference."
    return Check("optimizers step as often", ours == theirs, found, advice, "", port.optimizers[0].spot)


def _calls(training: Training) -> str:
    steps = [f"{one.type} {one.steps}" for one in training.optimizers]
    return f"{', '.join(steps)}; {len(training.losses)} backward passes"


def _start(port: Training, reference: Training) -> Check:
    # Forward passes have updated buffers by then: those are compared by what training does to them.
    parameters = {one.name for one in port.parameters}
    names = [name for name in port.started if name in reference.started and name in parameters]
    other = [
        name
        for name in names
        if distance(port.started[name], reference.started[name])
        > SAME_START * (SAME_START + reference.started[name][0])
    ]
    found = differ(other) if other else f"{len(names)} tensors"
    advice = "Seed first, build the model on the CPU in the reference's order, then move it."
    return Check("it starts from the same values", not other, found, advice, "XLA408")


def _losses(port: Training, reference: Training, shaken: Training, tolerance: float) -> Check:
    title = "the losses are the reference's"
    triples = list(zip(port.losses, reference.losses, shaken.losses, strict=False))
    size = max((abs(loss) for loss in reference.losses if math.isfinite(loss)), default=0.0)
    noise = worst = 0.0
    for at, (ours, theirs, disturbed) in enumerate(triples):
        noise = max(noise, distance((disturbed, 0.0), (theirs, 0.0)))
        difference = distance((ours, 0.0), (theirs, 0.0))
        if difference > max(tolerance * max(abs(theirs), tolerance * size), CHAOS * noise):
            found = f"loss {at + 1} is {ours:.6g}, the reference's {theirs:.6g}"
            return Check(title, False, found, _loss_advice(port, reference, at), step=at + 1)
        worst = max(worst, difference)
    moved = _movement(reference.losses)
    found = f"{len(triples)} of them, which move {moved}, differ by up to {worst:.2g}"
    return Check(title, bool(triples), found, "Call `backward` on the loss.")


def _loss_advice(port: Training, reference: Training, at: int) -> str:
    if port.draws[: at + 1] != reference.draws[: at + 1]:
        return "Draw the same random numbers in the same order: dropout, augmentation or sampling differs."
    return "Compare the forward pass, the targets and the loss with the reference."


def _movement(losses: tuple[float, ...]) -> str:
    quarter = max(1, len(losses) // 4)
    first, last = sum(losses[:quarter]) / quarter, sum(losses[-quarter:]) / quarter
    return f"from {first:.4g} to {last:.4g}"


def _gradients(port: Training, reference: Training, shaken: Training, tolerance: float) -> Check:
    title = "the gradients are the reference's"
    steps = 0
    for three in zip(port.optimizers, reference.optimizers, shaken.optimizers, strict=False):
        ours, theirs = three[0].gradients, three[1].gradients
        empty: Mapping[str, Mark] = {}
        for step, marks in enumerate(zip_longest(*(one.gradients for one in three), fillvalue=empty)):
            steps += 1
            if wrong := _wrong(tolerance, *marks):
                before = (ours[step - 1], theirs[step - 1]) if step else None
                found = f"step {step + 1}: {differ(wrong)}"
                advice = gradient_advice(marks[0], marks[1], wrong, before)
                return Check(title, False, found, advice, step=step + 1)
    return Check(title, True, f"in {steps} steps")


def _wrong(
    tolerance: float, ours: Mapping[str, Mark], theirs: Mapping[str, Mark], disturbed: Mapping[str, Mark]
) -> list[str]:
    largest = max((mark[0] for mark in theirs.values()), default=0.0)
    noise = {name: distance(disturbed.get(name, ZERO), mark) for name, mark in theirs.items()}
    shares = [noise[name] / mark[0] for name, mark in theirs.items() if mark[0] > FAINT * largest]
    share = median(shares) if shares else 0.0  # one tensor's disturbance may cancel out by chance

    def allowed_difference(name: str) -> float:
        size = theirs.get(name, ZERO)[0]
        return max(tolerance * size, CHAOS * share * size, CHAOS * noise.get(name, 0.0), FAINT * largest)

    names = dict.fromkeys([*theirs, *ours])
    return [n for n in names if distance(ours.get(n, ZERO), theirs.get(n, ZERO)) > allowed_difference(n)]


def _trained_check(port: Training, reference: Training) -> Check:
    ours, theirs = _moving(port), _moving(reference)
    found = _describe_groups(
        (sorted(theirs - ours), "do not change here"), (sorted(ours - theirs), "change only here")
    )
    advice = "Compare `requires_grad`, `detach` and what the optimizer is given with the reference."
    spot = port.optimizers[0].spot
    return Check("the same parameters train", not found, found or f"{len(ours)} of them", advice, "", spot)


def _moving(training: Training) -> set[str]:
    return {one.name for one in training.parameters if one.change and any(one.change)}


def _outputs(port: Training, reference: Training, shaken: Training, tolerance: float) -> Iterator[Check]:
    names = [name for name, marks in reference.outputs.items() if marks and port.outputs.get(name)]
    other = [
        name
        for name in names
        if _differ(tolerance, *(one.outputs.get(name) or () for one in (port, reference, shaken)))
    ]
    if names:
        found = differ(other) if other else f"of {first_few(names)}"
        advice = "Compare what runs in evaluation mode: dropout, normalisation, branches on `training`."
        yield Check("evaluation gives the same outputs", not other, found, advice)


def _differ(
    tolerance: float, ours: tuple[Mark, ...], theirs: tuple[Mark, ...], disturbed: tuple[Mark, ...]
) -> bool:
    return len(ours) != len(theirs) or any(
        distance(a, b) > max(tolerance * b[0], CHAOS * distance(c, b), 1e-6)
        for a, b, c in zip(ours, theirs, disturbed or theirs, strict=False)
    )
