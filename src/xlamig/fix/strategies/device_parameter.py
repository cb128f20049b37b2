"""`def f(x, device="cuda")`: the default is decided where the function runs."""

from __future__ import annotations

from typing import TypeGuard

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import index_of, is_default_device, written_device
from xlamig.fix.imports import line_start
from xlamig.fix.scopes import dotted_name, path_to, reads
from xlamig.fix.strategies.device_literal import device_text
from xlamig.fix.template import together


def device_parameter(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Return the draft that makes the default None, and decides the device where the body begins. None has to
    mean nothing else there."""
    if not isinstance(fact, DeviceChoice) or fact.via != "literal":
        return None
    path = path_to(context.module, *fact.span)
    owner = next((node for node in reversed(path) if isinstance(node, ir.FunctionDef)), None)
    param = next((node for node in reversed(path) if isinstance(node, ir.Param)), None)
    if owner is None or param is None or not _is_device(param.default) or param not in owner.params:
        return None
    if not is_default_device(fact.device, fact.index):
        raise FixDeclined(f"it means `{fact.device}`, not the first device")
    if any(_asks_for_none(path_to(context.module, use.start, use.end)) for use in reads(owner, param.name)):
        raise FixDeclined(f"None means something else for `{param.name}`")
    first, index = _begins(owner), index_of(fact.device)
    place = first.start, first.start
    start = line_start(context.source.text, first.start)
    indent = context.text((start, first.start))
    default = (param.default.start, param.default.end)
    if indent.strip() or isinstance(first, ir.FunctionDef | ir.ClassDef):
        return None
    device = written_device(context, fact, place, index)
    is_text = isinstance(param.default, ir.Const)
    chosen = device_text(device.text, index) if is_text else device.text
    newline, inner = context.module.newline, context.module.indent
    lines = f"if {param.name} is None:{newline}{indent}{inner}{param.name} = {chosen}{newline}{indent}"
    edits = (*device.edits, context.edit(*default, "None"), context.edit(*place, lines))
    return Draft(f"Select the device in the body: `{chosen}`", together(edits), device.creates)


def _is_device(default: ir.Expr | None) -> TypeGuard[ir.Expr]:
    """Return whether a default is a device or its name, and not something made on one."""
    is_made = isinstance(default, ir.Call) and dotted_name(default.func).rpartition(".")[2] == "device"
    return is_made or isinstance(default, ir.Const)


def _asks_for_none(path: list[ir.Node]) -> bool:
    """Return whether a use asks whether the parameter was given: `device is None`, `device or ...`."""
    match path[-2:]:
        case [ir.Compare(ops=("is" | "is not",)) | ir.Bool() | ir.Unary(op="not"), _]:
            return True
        case [ir.If(test=test) | ir.IfExp(test=test) | ir.While(test=test), use]:
            return test is use
    return False


def _begins(owner: ir.FunctionDef) -> ir.Stmt:
    """Return the first statement of a body behind its docstring, if it has more than that."""
    documented = isinstance(ir.docstring(owner), str) and len(owner.body) > 1
    return owner.body[1 if documented else 0]
