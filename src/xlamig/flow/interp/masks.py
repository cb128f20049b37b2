"""Boolean masks as indices."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, as_tensor
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short


def record_mask(
    m: State,
    node: ir.Subscript,
    part: ir.Expr,
    base: AbstractValue,
    mask: AbstractValue,
    access: str,
    thing: AbstractValue | None,
    value: ir.Expr | None,
    operator: str,
) -> None:
    """Record that an index is a mask: the shape of what it picks depends on values."""
    sure = min(sureness(base) or POSSIBLE, sureness(mask)) if sureness(base) else 0
    tensor = m.source(node.value)
    written = ""
    if thing is not None:
        written = "tensor" if thing.kind == "tensor" else "scalar"
        if isinstance(value, ir.Subscript) and any(m.source(i) == m.source(part) for i in value.index):
            written = "masked"
    if sure > POSSIBLE:
        m.read(Effect.SELECT)
    m.record(
        DynamicShape,
        node,
        sure,
        mask.why or base.why,
        via=f"mask-{access}",
        operation=operator or "[]",
        tensor=short(tensor),
        mask=short(m.source(part)),
        value=written,
        same_shape=mask.source == tensor and bool(tensor),
        parts={"mask": (part.start, part.end)},
    )


def has_mask(index: list[AbstractValue]) -> bool:
    """Return whether an index is a tensor of booleans that may be on the device: only tensors take one."""
    return any(part.kind == "tensor" and part.dtype == "bool" and part.place != "host" for part in index)


def masked_base(base: AbstractValue) -> AbstractValue:
    """Return the tensor that an unknown value must be, since a mask indexes it."""
    return as_tensor(base) if base.place else AbstractValue("tensor", "either", sure=LIKELY)
