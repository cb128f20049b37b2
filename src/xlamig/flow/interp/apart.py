"""Tensors of the host and of the device in one operation that takes them from one place only."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.facts import Transfer
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import CERTAIN, LIKELY, AbstractValue, Mark
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

INDEX = "index"
"""The operation of `x[i]`."""
_ELSEWHERE = (Mark.AWAITS_MOVE, Mark.BUFFER, Mark.MIXED, Mark.PARAMETER)
"""Tensors that are on the device by the time that they are used, or may be."""


def record_index_apart(
    m: State, node: ir.Subscript, base: AbstractValue, index: Iterable[AbstractValue]
) -> None:
    """Record a tensor of the host that is indexed by one of the device: that raises, unless the index has 0
    dimensions, which is read. A tensor of the device takes indices of the host."""
    if is_left(node.value, base) and any(map(_is_vector_on_device, index)):
        record_apart(m, node.value, base, INDEX)


def record_picked_apart(m: State, name: str, owner: AbstractValue | None, args: Args, node: ir.Call) -> None:
    """Record a tensor of the host that `gather` and its like get beside one of the device, which raises."""
    given = [(arg.value, thing) for arg, thing in args.pairs if not arg.star]
    if owner is not None and isinstance(node.func, ir.Attribute):
        given.insert(0, (node.func.value, owner))
    if any(_is_on_device(thing) for _, thing in given):
        for part, thing in given:
            if is_left(part, thing):
                record_apart(m, part, thing, name)
                return


def is_left(node: ir.Expr, thing: AbstractValue) -> bool:
    """Return whether a tensor is on the host for sure, and nothing that moves with a module."""
    plain = thing.kind == "tensor" and not thing.loose and thing.trait not in _ELSEWHERE
    on_host = plain and thing.place == "host" and thing.sure == CERTAIN
    return on_host and not thing.scalar and not path_of(node).startswith("self.")


def _is_on_device(thing: AbstractValue) -> bool:
    plain = thing.kind == "tensor" and not thing.loose and thing.trait not in _ELSEWHERE
    return plain and thing.place == "device" and thing.sure == CERTAIN


def _is_vector_on_device(thing: AbstractValue) -> bool:
    """Return whether a tensor of the device has at least one dimension, for sure."""
    return _is_on_device(thing) and bool(thing.shape or thing.cause == "dynamic" or thing.dtype == "bool")


def record_apart(m: State, node: ir.Expr, thing: AbstractValue, operation: str) -> None:
    """Record that an operation gets a tensor of the host beside one of the device."""
    if not m.entered_from_host and not m.without_tensors:
        text = short(m.source(node))
        m.record(Transfer, node, LIKELY, thing.why, via="missing", operation=operation, tensor=text)
