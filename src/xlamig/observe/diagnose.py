"""Recognise differences in gradients and their usual causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlamig.observations import Mark

Marks = Mapping[str, Mark]
_CLOSE = 0.02


def gradient_advice(
    ours: Marks, theirs: Marks, wrong: Sequence[str], before: tuple[Marks, Marks] | None
) -> str:
    """`before` are the gradients of the step before, of the port and of the reference."""
    if any(name not in ours for name in wrong):
        return "Look for `detach`, `no_grad` or `requires_grad = False`: some have no gradient here."
    if any(name not in theirs for name in wrong):
        return "Freeze what the reference freezes: some have no gradient there."
    if before and _are_sums(ours, theirs, before[0], wrong):
        return "Call `optimizer.zero_grad()` every step: they still hold those of the step before."
    factor = _factor(ours, theirs, wrong)
    if factor:
        return f"Compare the loss's reduction and scaling: they are {factor:.3g} times the reference's."
    return "Compare the loss, its targets and clipping with the reference."


def _are_sums(ours: Marks, theirs: Marks, before: Marks, wrong: Sequence[str]) -> bool:
    """Products with a wave add up as the tensors do."""
    return all(
        name in before and abs(ours[name][1] - theirs[name][1] - before[name][1]) <= 0.1 * ours[name][0]
        for name in wrong
    )


def _factor(ours: Marks, theirs: Marks, wrong: Sequence[str]) -> float:
    """By which all of them differ, 0 if there is no such number."""
    factors = sorted(ours[name][0] / theirs[name][0] for name in wrong if theirs[name][0])
    if not factors or len(wrong) < len(theirs) / 2:
        return 0.0
    factor = factors[len(factors) // 2]
    alike = all(abs(ours[n][1] - factor * theirs[n][1]) <= _CLOSE * ours[n][0] for n in wrong)
    return factor if alike and factors[-1] - factors[0] <= _CLOSE * factor else 0.0
