"""Join the places and marks of an operator's operands."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue, Mark, Residence, Trait, join_place

OF_MASKS = frozenset({"&", "|", "^"})


def joined_place(one: Residence, other: Residence) -> Residence:
    """Where the result of an operation is: on the accelerator if any operand is."""
    if "device" in (one, other):
        return "device"
    return join_place(one, other)


def joined_trait(op: str, left: AbstractValue, right: AbstractValue) -> Trait | None:
    """Return the mark of what two tensors are combined to."""
    traits = (left.trait, right.trait)
    if Mark.NAN in traits and op in OF_MASKS:
        return Mark.NAN
    apart = {left.place, right.place} == {"host", "device"} and not (left.scalar or right.scalar)
    return Mark.MIXED if apart or Mark.MIXED in traits else None


def operands_of_format(node: ir.Node, count: int) -> Sequence[ir.Node]:
    """Return what `"..." % (x, y)` formats, `count` values; the whole expression for each where that is not
    written out."""
    match node:
        case ir.Binary(right=ir.Sequence(elements=elements)) if len(elements) == count:
            return elements
    return (node,) * count
