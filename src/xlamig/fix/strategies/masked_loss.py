"""`cross_entropy(x[mask], y[mask])` gets all elements, and targets that it ignores outside of the mask."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.loss_calls import call_with, settings_of
from xlamig.fix.scopes import function_around, only_value, path_to, reads
from xlamig.fix.strategies.index_select import is_plain

_FLAT = {"flatten", "ravel"}


def masked_loss(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options `functions` and `modules` name the losses that take classes as targets and ignore one of them.
    Scores and targets are selected by the same mask, in the call or in a name that nothing else uses."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read":
        return None
    path = path_to(context.module, *fact.span)
    owner = function_around(path)
    call = call_with(path, owner, context.module)
    if call is None or len(call.args) < 2 or any(arg.keyword or arg.star for arg in call.args[:2]):
        return None
    ignored = _ignored_class(call, options, context)
    scores, targets = (_selection(arg.value, owner) for arg in call.args[:2])
    if ignored is None or scores is None or targets is None or path[-1] not in (scores, targets):
        return None
    mask = context.text_of(scores.index[0])
    if mask != context.text_of(targets.index[0]) or "\n" in mask or not _is_repeatable(scores.index[0]):
        return None
    once = mask if isinstance(scores.index[0], ir.Name | ir.Attribute) else f"({mask})"
    x, y = context.text_of(scores.value), context.text_of(targets.value)
    if _is_flat(targets.value, owner):
        kept, written = x, f"{y}.masked_fill({once}.logical_not(), {ignored})"
    else:
        kept = f"{x}.flatten(0, {once}.dim() - 1)"
        written = f"{y}.flatten().masked_fill({once}.logical_not().flatten(), {ignored})"
    edits = (
        context.edit(scores.start, scores.end, kept),
        context.edit(targets.start, targets.end, written),
    )
    return Draft(f"Give the loss all elements, and the target {ignored} outside of `{mask}`", edits)


def _selection(value: ir.Expr, owner: ir.Node) -> ir.Subscript | None:
    """Return `x[mask]`, or what a name holds that nothing but this call uses."""
    match value:
        case ir.Subscript(index=(_,)):
            return value
        case ir.Name(id=name) if len(reads(owner, name)) == 2:
            match only_value(owner, name):
                case ir.Subscript(index=(_,)) as read:
                    return read
    return None


def _ignored_class(call: ir.Call, options: Options, context: FixContext) -> str | None:
    """Return the class that the loss ignores; None if it is another loss, or has a value for each element."""
    given = settings_of(call, options, context.module)
    if given is None:
        return None
    named = {arg.keyword: arg.value for arg in given if arg.keyword}
    if len(named) < len(given):
        return None
    match named.get("reduction"):
        case None | ir.Const(value="mean" | "sum"):
            return context.text_of(named["ignore_index"]) if "ignore_index" in named else "-100"
    return None


def _is_repeatable(mask: ir.Expr) -> bool:
    match mask:
        case ir.Compare(left=left, comparators=(right,)):
            return is_plain(left) and is_plain(right)
    return is_plain(mask)


def _is_flat(targets: ir.Expr, owner: ir.Node) -> bool:
    """Return whether the targets are known to have one dimension, so that the mask has one too."""
    match targets:
        case ir.Call(func=ir.Attribute(attr=name), args=()):
            return name in _FLAT
        case ir.Call(
            func=ir.Attribute(attr="view" | "reshape"),
            args=(ir.Arg(value=ir.Unary(op="-", operand=ir.Const(value=1)) | ir.Const(value=-1)),),
        ):
            return True
        case ir.Name(id=name):
            value = only_value(owner, name)
            return value is not None and not isinstance(value, ir.Name) and _is_flat(value, owner)
    return False
