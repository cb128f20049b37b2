"""`"cuda" if torch.cuda.is_available() else "cpu"` becomes the project's device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression, index_of, is_default_device
from xlamig.fix.scopes import bindings, function_around, path_to, reads
from xlamig.fix.strategies.device_flag import decided_by_flag
from xlamig.fix.strategies.device_literal import device_text, replace_by_device

_EXPRESSIONS = {"ternary", "and"}


def device_selection(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Selections with the CPU as the other outcome: what does nothing but choose is replaced as a whole,
    of others the CPU's branch."""
    if not isinstance(fact, DeviceChoice) or fact.via != "selection":
        return None
    if fact.fallback == "raise" and "availability" in fact.parts:
        return _any_device(fact, context)
    if fact.fallback != "cpu":
        return None
    if "availability" not in fact.parts or fact.result not in ("device", "string"):
        return None  # what else is asked for has to stay asked for
    if whole := decided_by_flag(fact, context):
        return whole
    if fact.form == "word":
        return _word(fact, context)
    if fact.form == "override":
        return _any_device(fact, context)
    stays = fact.form in ("if-else", "chain") or "setting" in fact.parts
    if "fallback" in fact.parts and (stays or not is_default_device(fact.device, fact.index)):
        return _fallback(fact, context)
    if not is_default_device(fact.device, fact.index):
        return None
    if fact.form == "if-else":
        return _statement(fact, context)
    if fact.form not in _EXPRESSIONS:
        return None
    rest = context.text(fact.parts["rest"]) if "rest" in fact.parts else ""
    return replace_by_device(fact, context, fact.result == "device", index_of(fact.device), rest)


def _any_device(fact: DeviceChoice, context: FixContext) -> Draft | None:
    """`torch.cuda.is_available()` as the question whether there is more than the CPU."""
    place = fact.parts["availability"]
    path = path_to(context.module, *place)
    negated = isinstance(path[-2], ir.Unary)
    if negated:
        place = (path[-2].start, path[-2].end)
    device = device_expression(context, fact, place, from_scope=False)
    if device is None:
        return None
    text = f'{device.text}.type {"==" if negated else "!="} "cpu"'
    return Draft(f"Use `{text}`", (*device.edits, context.edit(*place, text)), device.creates)


def _statement(fact: DeviceChoice, context: FixContext) -> Draft | None:
    """An if/else of two assignments becomes one."""
    place, target = fact.parts.get("statement"), fact.parts.get("target")
    if place is None or target is None or "#" in context.text(place):
        return None
    device = device_expression(context, fact, place, index_of(fact.device), from_scope=False)
    if device is None:
        return None
    value = device.text if fact.result == "device" else device_text(device.text, index_of(fact.device))
    text = f"{context.text(target)} = {value}"
    return Draft(f"Use `{text}`", (*device.edits, context.edit(*place, text)), device.creates)


def _word(fact: DeviceChoice, context: FixContext) -> Draft | None:
    """`"gpu"` for XLA too, where all that becomes of the word is a name that is compared with words."""
    test, path = fact.parts["availability"], path_to(context.module, *fact.span)
    statement = path[-2]
    match statement:
        case ir.Assign(targets=(ir.Name(id=name),)):
            owner = function_around(path)
        case _:
            return None
    bound = {
        id(target) for node in bindings(owner, name) if isinstance(node, ir.Assign) for target in node.targets
    }
    uses = [use for use in reads(owner, name) if id(use) not in bound]
    around = [path_to(context.module, use.start, use.end) for use in uses]
    device = device_expression(context, fact, test, from_scope=False)
    if device is None or not all(len(p) > 1 and isinstance(p[-2], ir.Compare) for p in around):
        return None
    text = f'{context.text(test)} or {device.text}.type == "xla"'
    return Draft(f"Use `{text}`", (*device.edits, context.edit(*test, text)), device.creates)


def _fallback(fact: DeviceChoice, context: FixContext) -> Draft | None:
    """The branch for hosts without CUDA takes the device that the helper knows; CUDA's branch stays."""
    place = fact.parts["fallback"]
    node, old = path_to(context.module, *place)[-1], context.text(place)
    is_text = isinstance(node, ir.Const) and node.value == "cpu"
    if not (is_text or old.endswith(('device("cpu")', "device('cpu')"))):
        return None
    device = device_expression(context, fact, place, from_scope=False)
    if device is None:
        return None
    text = device_text(device.text, "") if is_text else device.text
    tests = [context.text(fact.parts["rest"])] if "rest" in fact.parts else []
    if "setting" in fact.parts:  # who asks for the CPU gets it
        tests.append(f'{context.text(fact.parts["setting"])} != "cpu"')
    if tests:
        text = f"{text} if {' and '.join(tests)} else {old}"
        text = f"({text})" if fact.form != "if-else" else text
    return Draft(
        f"Use `{text}` instead of `{old}`", (*device.edits, context.edit(*place, text)), device.creates
    )
