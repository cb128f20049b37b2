"""`"cuda"` where a device is expected becomes the project's device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression, is_default_device
from xlamig.fix.scopes import path_to

_TAKE_ANY_DEVICE = {"to", "device", "factory", "torch.device"}


def device_literal(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    if not isinstance(fact, DeviceChoice) or fact.via != "literal":
        return None
    if not is_default_device(fact.device, fact.index):
        return None
    expected = fact.result == "device" or (fact.result == "unknown" and fact.position in _TAKE_ANY_DEVICE)
    return replace_by_device(fact, page, expected)


def replace_by_device(fact: Fact, page: FixContext, device_expected: bool) -> Draft | None:
    """Put the device expression in the fact's place, or in that of the `torch.device()` around it."""
    call = _device_call(page, fact.span)
    if call is None and not device_expected:
        return None
    if call is not None and len(call.args) != 1 and (call.start, call.end) != fact.span:
        return None  # the index stands beside the literal
    place = (call.start, call.end) if call else fact.span
    old = page.text(place)
    if "\n" in old and "#" in old:
        return None  # a comment would go
    device = device_expression(page, fact, place)
    if device is None:
        return None
    return Draft(
        f"Use `{device.text}` instead of `{' '.join(old.split())}`",
        (*device.edits, page.edit(*place, device.text)),
        device.creates,
    )


def _device_call(page: FixContext, span: Span) -> ir.Call | None:
    """The `torch.device(...)` that `span` is, or is an argument of."""
    for node in reversed(path_to(page.module, *span)):
        if isinstance(node, ir.Call):
            if _is_torch_device(node.func):
                return node
            if (node.start, node.end) != span:
                return None
        elif not isinstance(node, ir.Arg) and (node.start, node.end) != span:
            return None
    return None


def _is_torch_device(func: ir.Expr) -> bool:
    match func:
        case ir.Attribute(value=ir.Name(id="torch"), attr="device") | ir.Name(id="device"):
            return True
    return False
