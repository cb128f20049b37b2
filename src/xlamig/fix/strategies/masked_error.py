"""`l1_loss(x[mask], y[mask])` compares all elements, with zeros outside of the mask on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.loss_calls import call_with, mean_over_selected, reduction_of
from xlamig.fix.scopes import function_around, only_value, path_to, reads
from xlamig.fix.strategies.index_select import is_plain
from xlamig.fix.strategies.masked_fill import with_dimensions_of
from xlamig.fix.strategies.masked_sum import selected_by


def masked_error(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options `functions` and `modules` name the losses that are zero where both sides are. The mean over
    the selected elements is the mean over all, times how many there are for each selected one."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read":
        return None
    path = path_to(context.module, *fact.span)
    owner = function_around(path)
    call = call_with(path, owner, context.module)
    if call is None or len(call.args) < 2 or any(arg.keyword or arg.star for arg in call.args[:2]):
        return None
    reduced = reduction_of(call, options, context.module)
    selections = [_selection(arg.value, owner) for arg in call.args[:2]]
    torch = ensure_module(context, "torch", fact.span)
    if reduced is None or torch is None or path[-1] not in selections:
        return None
    parts = [selected_by(one) for one in selections if one is not None]
    mask = parts[0][1] if parts and parts[0] else None
    found = [(one, *part) for one, part in zip(selections, parts, strict=False) if one and part]
    if len(found) != 2 or mask is None or not _is_repeatable(mask):
        return None
    m = context.text_of(mask)
    if any(context.text_of(other) != m for _, _, other in found) or "\n" in m:
        return None
    edits = list(torch.edits)
    for one, tensor, _ in found:
        shaped = _shaped(one, tensor, [other for _, other, _ in found], mask, owner, context)
        if shaped is None or "#" in context.text_of(one):
            return None
        zeroed = f"{torch.name}.where({shaped}, {context.text_of(tensor)}, 0)"
        edits.append(context.edit(one.start, one.end, zeroed))
    if reduced == "mean":
        once = m if is_plain(mask) else f"({m})"
        edits += mean_over_selected(call, once, context)
    return Draft(f"Compare all elements, with zeros outside of `{m}`", tuple(edits))


def _selection(value: ir.Expr, owner: ir.Node) -> ir.Expr | None:
    """Return `x[mask]`, or what a name holds that nothing but this call uses."""
    if isinstance(value, ir.Name) and len(reads(owner, value.id)) == 2:
        value = only_value(owner, value.id) or value
    return value if selected_by(value) else None


def _shaped(
    one: ir.Expr,
    tensor: ir.Expr,
    both: Sequence[ir.Expr],
    mask: ir.Expr,
    owner: ir.Node,
    context: FixContext,
) -> str | None:
    """Return the mask as `torch.where` takes it: `masked_select` broadcasts it from the last dimension, an
    index selects along the first ones. Both tensors have as many dimensions."""
    if isinstance(one, ir.Call) or any(_is_mask_of(other, mask, owner, context) for other in both):
        return context.text_of(mask)
    plain = [other for other in (tensor, *both) if is_plain(other)]
    return with_dimensions_of(plain[0], mask, context) if plain else None


def _is_mask_of(tensor: ir.Expr, mask: ir.Expr, owner: ir.Node, context: FixContext) -> bool:
    """Return whether a mask compares the tensor itself, here or where its name gets it."""
    if isinstance(mask, ir.Name):
        mask = only_value(owner, mask.id) or mask
    match mask:
        case ir.Compare(left=left, comparators=(_,)):
            return is_plain(left) and context.text_of(left) == context.text_of(tensor)
        case ir.Binary(op="&", left=left, right=right):
            return all(_is_mask_of(tensor, side, owner, context) for side in (left, right))
    return False


def _is_repeatable(mask: ir.Expr) -> bool:
    match mask:
        case ir.Compare(left=left, comparators=(right,)):
            return is_plain(left) and (is_plain(right) or isinstance(right, ir.Const))
    return is_plain(mask)
