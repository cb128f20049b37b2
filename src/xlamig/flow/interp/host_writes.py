"""Tensors of the device that are written into one of the host: `losses[i] = loss`."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.apart import is_left, record_apart
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.state import State

_WRITE = "Tensor.__setitem__"


def record_host_write(
    m: State,
    reads: Reads,
    target: ir.Subscript,
    base: AbstractValue,
    index: Sequence[AbstractValue],
    value: ir.Expr | None,
    thing: AbstractValue,
) -> None:
    """Record that the host waits for what is written into a tensor of its own at numbers and slices; at a
    vector of indices, or by a mask, the write raises (measured with torch_xla 2.9)."""
    if value is None or thing.kind != "tensor" or thing.place != "device" or not is_left(target.value, base):
        return
    if any(one.kind == "tensor" and (one.shape or one.dtype == "bool") for one in index):
        record_apart(m, target.value, base, _WRITE)
    else:
        reads.host(value, thing, "copy", _WRITE, value)
