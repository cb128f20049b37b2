"""A setting that may be a CUDA device: `torch.device(cfg["device"])` becomes the device of the program."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import path_to


def device_setting(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """A setting that is another device stays what the program gets."""
    if not isinstance(fact, DeviceChoice):
        return None
    setting = context.text(fact.span)
    place, other = fact.span, setting
    match path_to(context.module, *fact.span)[-3:]:
        case [ir.Call(func=ir.Attribute(attr="device")) as call, ir.Arg(), _]:
            place, other = (call.start, call.end), context.text_of(call)
    if "\n" in other:
        return None
    torch = ensure_module(context, "torch", place)
    device = device_expression(context, fact, place, setting, from_scope=False)
    if device is None or torch is None:
        return None
    text = f'{device.text} if {torch.name}.device({setting}).type == "cuda" else {other}'
    edits = (*torch.edits, *device.edits, context.edit(*place, text))
    return Draft(f"Use `{device.text}` where `{setting}` is a CUDA device", edits, device.creates)
