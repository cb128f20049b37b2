"""`"cuda" if torch.cuda.is_available() else "cpu"` becomes the project's device."""

from __future__ import annotations

from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression, index_of, is_default_device
from xlamig.fix.strategies.device_literal import replace_by_device

_EXPRESSIONS = {"ternary", "and"}


def device_selection(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Only selections written as one expression, with CPU as the other outcome."""
    if not isinstance(fact, DeviceChoice) or fact.via != "selection":
        return None
    if fact.fallback != "cpu":
        return None
    if not is_default_device(fact.device, fact.index) or "availability" not in fact.parts:
        return None  # what else is asked for has to stay asked for
    if fact.result not in ("device", "string"):
        return None
    if fact.form == "if-else":
        return _statement(fact, page)
    if fact.form not in _EXPRESSIONS:
        return None
    rest = page.text(fact.parts["rest"]) if "rest" in fact.parts else ""
    return replace_by_device(fact, page, fact.result == "device", index_of(fact.device), rest)


def _statement(fact: DeviceChoice, page: FixContext) -> Draft | None:
    """An if/else of two assignments becomes one."""
    place, target = fact.parts.get("statement"), fact.parts.get("target")
    if place is None or target is None or "#" in page.text(place):
        return None
    device = device_expression(page, fact, place, index_of(fact.device), from_scope=False)
    if device is None:
        return None
    value = device.text if fact.result == "device" else f"str({device.text})"
    text = f"{page.text(target)} = {value}"
    return Draft(f"Use `{text}`", (*device.edits, page.edit(*place, text)), device.creates)
