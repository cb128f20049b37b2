"""`choices=["cuda", "cpu"]` of a command-line option takes the device type `xla` too."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import path_to


def add_choice(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Below the last of the constants, quoted as it is."""
    node = path_to(context.module, *fact.span)[-1]
    if not isinstance(fact, DeviceChoice) or not isinstance(node, ir.Sequence) or not node.elements:
        return None
    last = node.elements[-1]
    quote = context.text_of(last)[-1:]
    if not isinstance(last, ir.Const) or quote not in ("'", '"'):
        return None
    added = f"{quote}xla{quote}"
    return Draft(f"Add `{added}`", (context.edit(last.end, last.end, f", {added}"),))
