"""`"cuda"` where a device is expected becomes the project's device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact, Span
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import device_expression, index_of, is_default_device
from xlamig.fix.scopes import path_to

_CPU = ('device("cpu")', "device('cpu')")
_TAKE_ANY_DEVICE = {"to", "device", "factory", "torch.device"}


def device_literal(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    if not isinstance(fact, DeviceChoice) or fact.via != "literal":
        return None
    if not is_default_device(fact.device, fact.index):
        raise FixDeclined(f"it means `{fact.device}`, not the first device")
    expected = fact.result == "device" or (fact.result == "unknown" and fact.position in _TAKE_ANY_DEVICE)
    if not expected and fact.result != "string":
        return None
    return replace_by_device(fact, context, expected, index_of(fact.device))


def replace_by_device(
    fact: Fact, context: FixContext, device_expected: bool, index: str = "", rest: str = ""
) -> Draft | None:
    """Put the device in the fact's place, or in that of the `torch.device()` around it; as a string
    where a string stood. Where `rest`, a condition, is false the CPU stays the choice."""
    call = _device_call(context, fact.span)
    if call is not None and len(call.args) != 1 and (call.start, call.end) != fact.span:
        return None  # the index stands beside the literal
    place = (call.start, call.end) if call else fact.span
    old = context.text(place)
    if "\n" in old and "#" in old:
        return None  # a comment would go
    as_text = call is None and not device_expected
    device = device_expression(context, fact, place, index, from_scope=not as_text)
    cpu = _cpu_text(context, call, fact.span, as_text) if rest else ""
    if device is None or cpu is None:
        return None
    text = device_text(device.text, index) if as_text else device.text
    if rest:
        text = f"{text} if {rest} else {cpu}"
        if context.source.text[place[1] : place[1] + 1] in (".", "["):
            text = f"({text})"
    return Draft(
        f"Use `{text}` instead of `{' '.join(old.split())}`",
        (*device.edits, context.edit(*place, text)),
        device.creates,
    )


def _cpu_text(context: FixContext, call: ir.Call | None, span: Span, as_text: bool) -> str | None:
    """Return the CPU as the place writes it: in the `torch.device()` around it, as a string, or as the
    other branch of a choice between two devices; None if that is none that is known."""
    if call is not None:
        return f'{context.text_of(call.func)}("cpu")'
    if as_text:
        return '"cpu"'
    match path_to(context.module, *span)[-1]:
        case ir.IfExp(body=body, orelse=orelse):
            sides = [context.text_of(side) for side in (orelse, body)]
            return next((side for side in sides if side.endswith(_CPU)), None)
    return None


def device_text(device: str, index: str) -> str:
    """The device as a string: its type alone where no number was asked for, so that it is equal to what
    programs compare with."""
    return f"str({device})" if index else f"{device}.type"


def _device_call(context: FixContext, span: Span) -> ir.Call | None:
    """The `torch.device(...)` that `span` is, or is an argument of."""
    for node in reversed(path_to(context.module, *span)):
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
