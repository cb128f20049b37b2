"""Marks that a join keeps only if both of its values have them."""

from __future__ import annotations

from xlamig.flow.interp.domain.traits import Mark
from xlamig.flow.interp.domain.values import AbstractValue


def with_common_marks(one: AbstractValue, other: AbstractValue) -> tuple[AbstractValue, AbstractValue]:
    """Return two values of one kind without the marks that have to hold for both; a flag that holds in some
    steps only, or never, still holds in some only."""
    if (one.trait is Mark.CONSTANT) is not (other.trait is Mark.CONSTANT):
        one, other = _without(one, Mark.CONSTANT), _without(other, Mark.CONSTANT)
    if (one.trait is Mark.SELDOM) is not (other.trait is Mark.SELDOM):
        never = one.const is False or other.const is False
        return (one, other) if never else (_without(one, Mark.SELDOM), _without(other, Mark.SELDOM))
    return one, other


def _without(value: AbstractValue, mark: Mark) -> AbstractValue:
    return value.replace(trait=None) if value.trait is mark else value
