"""`x[mask].sum()` and `.mean()` become sums over all of `x` with zeros outside of the mask."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape, Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.masked_fill import with_dimensions_of


def masked_sum(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The mask of `x[mask]` may be one of rows: unless it is known to have the shape of `x`, it gets the
    dimensions that it lacks, where `x` is a name and the mask computes nothing that matters twice.
    `masked_select` broadcasts its mask as `torch.where` does, but then how many elements it selects is not
    known."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read":
        return None
    path = path_to(context.module, *fact.span)
    read, reduced = path[-1], _reduction(path)
    parts = selected_by(read)
    if reduced is None or parts is None:
        return None
    owner, mask = parts
    whole, kind = reduced
    broadcasts = isinstance(read, ir.Call)
    longer = with_dimensions_of(owner, mask, context)
    torch = ensure_module(context, "torch", fact.span)
    if torch is None or "#" in context.text(whole) or (longer is None and (kind == "mean" or not broadcasts)):
        return None
    x, m = context.text_of(owner), context.text_of(mask)
    once = m if isinstance(mask, ir.Name | ir.Attribute) else f"({m})"
    if kind == "mean" and broadcasts and not fact.same_shape:
        return None
    shaped = m if fact.same_shape or broadcasts else longer
    new = f"{torch.name}.where({shaped}, {x}, 0).sum()"
    if kind == "mean":
        count = f"{once}.sum()"
        new += f" / {count}" if fact.same_shape else f" / ({count} * ({x}.numel() // {once}.numel()))"
        new = f"({new})"
    return Draft(f"Use `{new}`", (*torch.edits, context.edit(*whole, new)))


def selected_by(node: ir.Node) -> tuple[ir.Expr, ir.Expr] | None:
    """Return the tensor and the mask of `x[mask]` or `masked_select(x, mask)`."""
    match node:
        case ir.Subscript(value=owner, index=(mask,)):
            return owner, mask
        case ir.Call(func=ir.Attribute(attr="masked_select"), args=(ir.Arg(value=owner), ir.Arg(value=mask))):
            return owner, mask
        case ir.Call(func=ir.Attribute(value=owner, attr="masked_select"), args=(ir.Arg(value=mask),)):
            return owner, mask
    return None


def _reduction(path: list[ir.Node]) -> tuple[Span, str] | None:
    """The call around what is read that gives one number of it: `.sum()`, `torch.mean(...)`."""
    read, call = path[-1], next((n for n in reversed(path[:-1]) if isinstance(n, ir.Call)), None)
    match call:
        case ir.Call(func=ir.Attribute(value=value, attr="sum" | "mean" as kind), args=()):
            reduced = value
        case ir.Call(func=ir.Attribute(value=ir.Name(id="torch"), attr="sum" | "mean" as kind), args=(one,)):
            reduced = one.value
        case _:
            return None
    return ((call.start, call.end), kind) if reduced is read else None
