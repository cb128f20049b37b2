"""`torch.tensor([t, u])` becomes one copy of what `torch.stack` puts together on the device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to

_KEPT = {"device", "dtype"}


def stack_scalars(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """For a list of 0-d tensors. The result lies where it did: on the CPU, unless a device is given."""
    if not isinstance(fact, HostRead) or fact.operation != "torch.tensor":
        return None
    call = next((n for n in reversed(path_to(context.module, *fact.span)) if isinstance(n, ir.Call)), None)
    if call is None or not call.args or call.args[0].keyword or call.args[0].star:
        return None
    values, kept = call.args[0].value, call.args[1:]
    if not isinstance(values, ir.Sequence) or any(a.keyword not in _KEPT for a in kept):
        return None
    if "#" in context.text_of(call):
        return None
    torch = ensure_module(context, "torch", fact.span)
    if torch is None:
        return None
    there = [] if any(a.keyword == "device" for a in kept) else ['"cpu"']
    there += [context.text_of(a) for a in kept]
    elements = context.text((values.elements[0].start, values.elements[-1].end))
    stacked = f"{torch.name}.stack([{elements}])"
    new = f"{stacked}.detach().to({', '.join(there)})"
    return Draft(f"Use `{new}`", (*torch.edits, context.edit(call.start, call.end, new)))
