"""Tensors that are longer after each step: where they grow, and the fact about it."""

from __future__ import annotations

from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.domain import AbstractValue, Grown, Made
from xlamig.flow.interp.state import State


def grew(state: State, value: AbstractValue, name: str) -> None:
    """Report `self.keys = torch.cat([self.keys, k])`, which makes `name` longer every step."""
    grown = value.kind == "tensor" and value.trait == Grown(name) and value.ref
    if grown and state.frequency == "step":
        record_growth(state, value, value.sure, (), "every step")


def record_growth(state: State, thing: AbstractValue, sure: int, why: tuple[Why, ...], when: str) -> None:
    """Report where a tensor grows."""
    assert isinstance(thing.trait, Grown) and isinstance(thing.ref, Made)
    node, statement, operation = thing.ref
    via = "pad" if operation.endswith("pad") else "concat"
    grows = Why(f"the result is longer than before {when}".rstrip(), (node.start, node.end))
    state.record(
        ChangingShape,
        node,
        sure,
        (*thing.why, grows, *why),
        at=statement,
        via=via,
        operation=operation,
        tensor=thing.trait.name.lstrip("."),
        cause="length",
    )
