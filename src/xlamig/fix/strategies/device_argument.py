"""`"cuda"` as an argument of a known call becomes the project's device."""

from __future__ import annotations

from dataclasses import replace

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import index_of, is_default_device
from xlamig.fix.scopes import describe, path_to
from xlamig.fix.strategies.device_literal import replace_by_device


def device_argument(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `argument`: the argument that takes a device. A name is left to where it is set."""
    argument = fact.argument(str(options.get("argument", ""))) if isinstance(fact, ApiUse) else None
    if argument is None:
        return None
    if not isinstance(path_to(context.module, *argument.value_span)[-1], ir.Const):
        raise FixDeclined(f"it depends on {describe(context, argument.value_span)}")
    device = str(argument.value.value)
    if not is_default_device(device, "constant"):
        return None
    return replace_by_device(replace(fact, span=argument.value_span), context, True, index_of(device))
