"""Replace a query of CUDA's driver by a property of the device on XLA; elsewhere it stays."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import decline_unreached
from xlamig.fix.helper import helper_function
from xlamig.fix.names import last_name
from xlamig.fix.scopes import path_to
from xlamig.knowledge import helpers

_TEXTS = frozenset({"str", "repr", "print", "format"})


def on_xla_instead(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `value`: an expression with `device` in it. Option `in-text`: only where it becomes text."""
    if not isinstance(fact, ApiUse) or fact.via != "call":
        return None
    decline_unreached(fact)
    call = fact.parts["call"]
    if options.get("in-text") and not _becomes_text(context.module, call):
        return None
    function = helper_function(context, helpers.DEVICE, call)
    if function is None:
        return None
    device = f"{function.name}()"
    value = str(options["value"]).replace("device", device)
    quote = _quote(context, call)
    text = f"({value} if {device}.type == {quote}xla{quote} else {context.text(call)})"
    edits = (*function.edits, context.edit(*call, text))
    return Draft(f"Use `{value}` on XLA, and query CUDA elsewhere", edits, function.creates)


def _becomes_text(module: ir.Module, call: Span) -> bool:
    """Return whether the call is part of a formatted string, or an argument of what prints or formats it."""
    around = path_to(module, *call)[-2::-1]
    for node in around:
        if isinstance(node, ir.FString):
            return True
        if isinstance(node, ir.Call):
            return last_name(node.func) in _TEXTS
        if not isinstance(node, ir.Arg):
            return False
    return False


def _quote(context: FixContext, call: Span) -> str:
    """The quotation mark that does not end the formatted string around the call, if there is one."""
    around = (node for node in path_to(context.module, *call) if isinstance(node, ir.FString))
    texts = [context.text((node.start, node.end)).lstrip("rRfFbB") for node in around]
    return "'" if texts and texts[0].startswith('"') else '"'
