"""Rounds the length of the longest sample up, so that few shapes occur: `max(len(s) for s in batch)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingShape, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.names import last_name
from xlamig.fix.scopes import function_around, path_to
from xlamig.fix.strategies.pad_to_multiple import reason_against
from xlamig.flow.model.known import short


def round_up_longest(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `multiple`. Each place of the function that computes this length is rounded up, if the file, or
    another of the program, masks padding, and nothing else has the length of the longest sample."""
    if not isinstance(fact, ChangingShape) or fact.cause != "batch":
        return None
    owner = function_around(path_to(context.module, *fact.span))
    if not isinstance(owner, ir.FunctionDef):
        return None
    calls = [node for node in ir.walk(owner) if isinstance(node, ir.Call)]
    longest = next((call for call in calls if _is_longest(call, fact, context)), None)
    if longest is None:
        return None
    if any(last_name(call.func) == "pad_sequence" for call in calls):
        raise FixDeclined("`pad_sequence` pads to the longest sample, too")
    if why := reason_against(context, "0"):
        raise FixDeclined(why)
    text, multiple = context.text_of(longest), options["multiple"]
    same = [call for call in calls if context.text_of(call) == text]
    edits = [context.edit(c.start, c.end, f"(-(-{text} // {multiple}) * {multiple})") for c in same]
    if len(same) == 1 and isinstance(path_to(context.module, longest.start, longest.end)[-2], ir.Assign):
        edits = [context.edit(longest.start, longest.end, f"-(-{text} // {multiple}) * {multiple}")]
    return Draft(f"Round `{text}` up to a multiple of {multiple}", tuple(edits))


def _is_longest(call: ir.Call, fact: Fact, context: FixContext) -> bool:
    """Return whether a call of `max` is a reason for a shape that differs from batch to batch, and was not
    rounded up since another file ran its function."""
    text = context.text_of(call)
    if isinstance(path_to(context.module, call.start, call.end)[-2], ir.Unary | ir.Binary):
        return False
    named = any(f"`{short(text)}`" in why.message for why in fact.reasons)
    return named and last_name(call.func) == "max" and bool(call.args) and "\n" not in text
