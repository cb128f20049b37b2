"""`torch.device("cuda", rank)`, `f"cuda:{rank}"`, `.to(rank)`, `.cuda(rank)`: the device of the process."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, Expression, FixContext, Options
from xlamig.fix.device import device_expression
from xlamig.fix.scopes import path_to

_FORMAT = re.compile(r"cuda:(%[ds]|\{\})")


def device_of_rank(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """On CUDA the rank goes on choosing the GPU."""
    if not isinstance(fact, DeviceChoice) or fact.via not in ("literal", "index"):
        return None
    node = path_to(context.module, *fact.span)[-1]
    if not isinstance(node, ir.Expr) or "#" in context.text(fact.span):
        return None
    if fact.index == "tensor" and (own := _device_of_tensor(node, context)):
        return Draft(f"Use `{own}`", (context.edit(*fact.span, own),))
    method = isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == "cuda"
    if isinstance(node, ir.Call) and method:
        device = _device(node.args[0].value, fact, context) if node.args else None
        edits = _move_to_device(node, device.text, context) if device else None
    else:
        device = _device(node, fact, context)
        written = device and (device.text if fact.result == "device" else f"str({device.text})")
        edits = [context.edit(*fact.span, written)] if written else None
    if device is None or edits is None:
        return None
    return Draft(f"Use `{device.text}`", (*device.edits, *edits), device.creates)


def _device_of_tensor(node: ir.Expr, context: FixContext) -> str | None:
    """Return `x.device` for `x.get_device()` and `x.device.index`."""
    match node:
        case ir.Call(func=ir.Attribute(value=tensor, attr="get_device")):
            return f"{context.text_of(tensor)}.device"
        case ir.Attribute(value=device, attr="index"):
            return context.text_of(device)
    return None


def _device(node: ir.Expr, fact: Fact, context: FixContext) -> Expression | None:
    index = _index(node, context)
    return device_expression(context, fact, fact.span, index, from_scope=False) if index else None


def _index(node: ir.Expr, context: FixContext) -> str | None:
    """The text of the number; one that was made part of a text may be text itself."""
    match node:
        case ir.Call(func=ir.Attribute(attr="device") | ir.Name(id="device"), args=(one,)):
            return _index(one.value, context)
        case ir.Call(
            func=ir.Attribute(attr="device") | ir.Name(id="device"), args=(ir.Arg(value=ir.Const()), number)
        ) if number.keyword in (None, "index"):
            return context.text_of(number.value)
        case ir.Call(func=ir.Attribute(value=ir.Const(value=str(form)), attr="format"), args=(one,)):
            return f"int({context.text_of(one.value)})" if _FORMAT.fullmatch(form) else None
        case ir.Binary(left=ir.Const(value=str(form)), op="%", right=right):
            numeral = context.text_of(right)
            return (numeral if "d" in form[5:] else f"int({numeral})") if _FORMAT.fullmatch(form) else None
        case ir.Binary(left=ir.Const(value="cuda:"), op="+", right=right):
            return f"int({context.text_of(right)})"
        case ir.FString():
            return _in_f_string(node, context)
        case ir.Name() | ir.Attribute() | ir.Subscript() | ir.Call():
            return context.text_of(node)
    return None


def _in_f_string(node: ir.FString, context: FixContext) -> str | None:
    plain = re.fullmatch(r"f([\"'])cuda:\{([^{}!:\"'\r\n]+)\}\1", context.text_of(node))
    return f"int({plain[2].strip()})" if plain else None


def _move_to_device(call: ir.Call, device: str, context: FixContext) -> list[Edit] | None:
    """`.cuda(rank, ...)` as `.to(device, ...)`."""
    func, first, *rest = call.func, *call.args
    assert isinstance(func, ir.Attribute)
    if first.keyword not in (None, "device") or any(a.star for a in call.args) or len(rest) > 1:
        return None
    edits = [context.edit(func.attr_start, func.end, "to"), context.edit(first.start, first.end, device)]
    for argument in rest:
        if argument.keyword is None:  # the second position of `to` is the dtype
            edits.append(context.edit(argument.start, argument.start, "non_blocking="))
        elif argument.keyword not in ("non_blocking", "memory_format"):
            return None
    return edits
