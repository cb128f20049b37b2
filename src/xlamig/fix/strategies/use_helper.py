"""A call becomes that of a function of the helper, which does the same and knows XLA."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import decline_unreached
from xlamig.fix.helper import helper_function
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.index_select import is_plain


def use_helper(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `function`: which one. What the call is given it is given too, names and constants alone; with
    `receiver`, the object of a method instead."""
    if not isinstance(fact, ApiUse) or fact.via != "call" or not fact.complete:
        return None
    decline_unreached(fact)
    given = [path_to(context.module, *argument.value_span)[-1] for argument in fact.args]
    if not all(isinstance(node, ir.Const) or is_plain(node) for node in given):
        return None
    callee = fact.parts["callee"]
    receiver = fact.parts.get("receiver") if options.get("receiver") else None
    if options.get("receiver") and (receiver is None or given):
        return None
    function = helper_function(context, str(options["function"]), callee)
    if function is None:
        return None
    span, text = callee, function.name
    if receiver is not None:
        span, text = fact.parts["call"], f"{function.name}({context.text(receiver)})"
    edits = (*function.edits, context.edit(*span, text))
    return Draft(f"Use `{function.name}`, which knows XLA", edits, function.creates)
