"""`"cuda" if torch.cuda.is_available() else "cpu"` becomes the project's device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression, index_of, is_default_device
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.device_literal import replace_by_device

_EXPRESSIONS = {"ternary", "and"}


def device_selection(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Selections with the CPU as the other outcome: what does nothing but choose is replaced as a whole,
    of others the CPU's arm."""
    if not isinstance(fact, DeviceChoice) or fact.via != "selection":
        return None
    if fact.fallback != "cpu":
        return None
    if "availability" not in fact.parts or fact.result not in ("device", "string"):
        return None  # what else is asked for has to stay asked for
    if "fallback" in fact.parts and (
        fact.form == "if-else" or not is_default_device(fact.device, fact.index)
    ):
        return _fallback(fact, page)
    if not is_default_device(fact.device, fact.index):
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


def _fallback(fact: DeviceChoice, page: FixContext) -> Draft | None:
    """The arm for hosts without CUDA takes the device that the helper knows; CUDA's arm stays."""
    place = fact.parts["fallback"]
    node, old = path_to(page.module, *place)[-1], page.text(place)
    is_text = isinstance(node, ir.Const) and node.value == "cpu"
    if not (is_text or old.endswith(('device("cpu")', "device('cpu')"))):
        return None
    device = device_expression(page, fact, place, from_scope=False)
    if device is None:
        return None
    text = f"str({device.text})" if is_text else device.text
    if "rest" in fact.parts:
        text = f"{text} if {page.text(fact.parts['rest'])} else {old}"
        text = f"({text})" if fact.form == "ternary" else text
    return Draft(f"Use `{text}` instead of `{old}`", (*device.edits, page.edit(*place, text)), device.creates)
