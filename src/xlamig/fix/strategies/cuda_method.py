"""`x.cuda(...)` becomes `x.to(device, ...)`."""

from __future__ import annotations

from xlamig.facts import ApiUse, Argument, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import device_expression
from xlamig.fix.scopes import describe

_DEFAULT_DEVICE = (None, 0, "cuda", "cuda:0")
_SAME_IN_TO = {"non_blocking", "memory_format"}


def cuda_method(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    if not isinstance(fact, ApiUse) or fact.via != "call" or not fact.complete:
        return None
    callee, arguments = fact.parts.get("callee"), fact.parts.get("arguments")
    if callee is None or arguments is None or context.source.text[callee[1] - 5 : callee[1]] != ".cuda":
        return None
    device = device_expression(context, fact, callee)
    if device is None:
        return None
    rewritten = _arguments(fact, context, device.text, arguments[0])
    if rewritten is None:
        return None
    method = context.edit(callee[1] - 4, callee[1], "to")
    return Draft(f"Use `.to({device.text})`", (*device.edits, method, *rewritten), device.creates)


def _arguments(fact: ApiUse, context: FixContext, device: str, start: int) -> list[Edit] | None:
    """Edits between the parentheses; None for a chosen device, which is more than a default."""
    edits = []
    old_device: Argument | None = None
    for position, argument in enumerate(fact.args):
        name = argument.name if argument.keyword else ("device", "non_blocking")[min(position, 1)]
        if name == "device":
            old_device = argument
        elif name not in _SAME_IN_TO:
            return None
        elif not argument.keyword:  # the second position of `to` is the dtype
            edits.append(context.edit(argument.span[0], argument.span[0], f"{name}="))
    if old_device is None:
        return [context.edit(start, start, f"{device}, " if fact.args else device), *edits]
    if old_device.value.kind not in ("constant", "device") or old_device.value.value not in _DEFAULT_DEVICE:
        raise FixDeclined(f"it depends on {describe(context, old_device.value_span)}")
    if isinstance(old_device.value.value, bool):
        return None
    return [context.edit(*old_device.value_span, device), *edits]
