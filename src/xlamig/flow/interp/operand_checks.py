"""Properties of the tensors that an operator gets together."""

from __future__ import annotations

from xlamig.flow.interp.domain import LIKELY, AbstractValue


def has_host_scalar(operands: list[AbstractValue]) -> bool:
    """Return whether a 0-d tensor of the host stands beside a tensor of the device."""
    scalar = any(o.place == "host" and o.scalar and o.sure >= LIKELY for o in operands)
    return scalar and any(o.place == "device" and o.sure >= LIKELY for o in operands)


def have_unequal_batches(operands: list[AbstractValue]) -> bool:
    """Return whether operands, not all of the host, differ before their last two dimensions."""
    shapes = [o.shape for o in operands if o.shape is not None]
    if len(shapes) != 2 or all(o.place == "host" for o in operands):
        return False
    one, other = shapes
    sizes = zip(one[:-2], other[:-2], strict=False)
    return len(one) != len(other) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
    )
