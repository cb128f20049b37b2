"""The part of a tensor that the indices beside a mask take: `x[:, i]` of `x[:, i, mask] = 0`."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.slices import keeps_dimension
from xlamig.flow.interp.state import State


@dataclass(frozen=True, slots=True)
class View:
    """A part of a tensor, as source text. Of the tensor's dimensions, `lost` do not stand beside the mask's:
    those of numbers, and those of slices before the mask; None where that is not known. `behind` are the
    slices behind the mask."""

    text: str
    lost: int | None
    behind: int


def view_without(
    m: State, node: ir.Subscript, part: ir.Expr, index: list[AbstractValue], mask: AbstractValue
) -> View | None:
    """Return the view that the indices beside a mask make, to which the mask can be given in a call; None
    where there are none, or one of them is a list or tensor, which the mask is joined with."""
    at = node.index.index(part)
    kinds = list(map(_kind, node.index, index))
    before, behind = kinds[:at], kinds[at + 1 :]
    if not (before or behind) or "" in before + behind or "all" in behind:
        return None
    texts = list(map(m.source, node.index))
    colons = _is_open(node.index[at + 1 :])
    if mask.shape is None and not colons:
        return None
    kept = texts[:at] + ([] if colons else [":"] * len(mask.shape or ()) + texts[at + 1 :])
    while kept and kept[-1] in (":", "..."):
        kept.pop()
    tensor = m.source(node.value)
    lost = None if "all" in before else (before + behind).count("number") + before.count("slice")
    return View(f"{tensor}[{', '.join(kept)}]" if kept else tensor, lost, behind.count("slice"))


def _kind(part: ir.Expr, value: AbstractValue) -> str:
    """Return what an index is: a number, a slice, `...` for all dimensions that no index stands for, or ""
    for anything else."""
    if isinstance(part, ir.Const) and part.value is Ellipsis:
        return "all"
    if value.kind in ("number", "unknown") and not keeps_dimension(part, value):
        return "number"  # a list would need as many numbers as the mask selects elements
    if value.kind == "tensor" and value.shape == () and value.dtype != "bool":
        return "number"
    return "slice" if keeps_dimension(part, value) and not isinstance(part, ir.Const) else ""


def _is_open(parts: tuple[ir.Expr, ...] | list[ir.Expr]) -> bool:
    """Return whether indices take all of their dimensions, `:`."""
    return all(isinstance(p, ir.Slice) and not (p.lower or p.upper or p.step) for p in parts)
