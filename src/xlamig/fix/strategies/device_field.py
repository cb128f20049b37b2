"""A dataclass's `device: str = "cuda"`, or a selection there: decided where an object is made."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression, index_of, is_default_device
from xlamig.fix.imports import ensure_name
from xlamig.fix.names import last_name
from xlamig.fix.scopes import path_to
from xlamig.fix.strategies.device_literal import device_text
from xlamig.fix.template import together


def device_field(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The default has to be a literal, or a selection by CUDA alone."""
    if not isinstance(fact, DeviceChoice) or not is_default_device(fact.device, fact.index):
        return None
    match path_to(context.module, *fact.span)[-3:]:
        case [ir.ClassDef() as owner, ir.AnnAssign(value=value), found]:
            if found is not value or not any(_makes_dataclass(node) for node in owner.decorators):
                return None
        case _:
            return None
    if not isinstance(value, ir.Const) and ("availability" not in fact.parts or "rest" in fact.parts):
        return None
    field = ensure_name(context, "dataclasses", "field", fact.span)
    device = device_expression(context, fact, fact.span, index_of(fact.device), from_scope=False, later=True)
    if field is None or device is None:
        return None
    as_device = fact.via == "selection" and fact.result == "device"
    chosen = device.text if as_device else device_text(device.text, index_of(fact.device))
    text = f"{field.name}(default_factory=lambda: {chosen})"
    edits = (*device.edits, *field.edits, context.edit(*fact.span, text))
    return Draft(f"Use `{text}`", together(edits), device.creates)


def _makes_dataclass(decorator: ir.Expr) -> bool:
    called = decorator.func if isinstance(decorator, ir.Call) else decorator
    return last_name(called) == "dataclass"
