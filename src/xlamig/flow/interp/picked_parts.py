"""Modules that a number picks out of a list, where the number is drawn or read again every step."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingPath, Why
from xlamig.flow.interp.blocks import is_of_block
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, placed
from xlamig.flow.interp.elements import read_position
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.state import State

_DRAWN = frozenset({"random", "read"})


def pick_part(
    m: State, reads: Reads, node: ir.Subscript, base: AbstractValue, first: AbstractValue
) -> AbstractValue:
    """Return what an index or a slice takes out of a list of modules; record that the model differs between
    steps."""
    part = node.index[0]
    held = placed(base.element or AbstractValue("module", sure=LIKELY), base)
    if isinstance(part, ir.Slice):
        read_position(reads, node, first)
        drawn = next((end for end in first.items or () if end.cause in _DRAWN), None)
        if drawn is None:
            return held
        return AbstractValue("sequence", element=held, cause=drawn.cause, loop=drawn.loop, why=drawn.why)
    if base.element is not None:
        read_position(reads, node, first)
    record_pick(m, node, first)
    return held


def record_pick(m: State, node: ir.Subscript, first: AbstractValue) -> None:
    """Record that a number picks a module, a drawn one in each of several blocks for sure: one draw in a
    step makes as many programs as there are modules."""
    if m.frequency != "step" or first.kind != "number" or first.cause not in _DRAWN:
        return
    part = node.index[0]
    why = (*first.why, Why("this number picks the module", (part.start, part.end)))
    sure = LIKELY if is_of_block(m) else POSSIBLE
    m.record(ChangingPath, node, sure, why, via="picked", cause=first.cause)
