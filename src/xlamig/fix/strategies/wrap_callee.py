"""A call calls what a function of the helper makes of its callee: `helper(torch.optim.LBFGS)(parameters)`."""

from __future__ import annotations

from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import decline_unreached
from xlamig.fix.helper import helper_function


def wrap_callee(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `function`: which function of the helper."""
    if not isinstance(fact, ApiUse) or fact.via != "call" or "callee" not in fact.parts:
        return None
    if context.settings.target != "torch_xla" or context.settings.style == "native":
        return None
    decline_unreached(fact)
    start, end = fact.parts["callee"]
    helper = helper_function(context, str(options["function"]), (start, end))
    if helper is None:
        return None
    name = context.source.text[start:end]
    edits = (*helper.edits, context.edit(start, end, f"{helper.name}({name})"))
    return Draft(f"Call `{helper.name}({name})`", edits, helper.creates)
