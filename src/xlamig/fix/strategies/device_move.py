"""`if torch.cuda.is_available(): model.cuda()` moves to XLA as well."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression
from xlamig.fix.other_branch import move_elsewhere, moves_itself
from xlamig.fix.scopes import path_to, statement_at
from xlamig.fix.strategies.device_flag import decided_by_flag
from xlamig.fix.strategies.in_place import placed_in_place


def device_move(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Where all that stands under the test is moves to the current CUDA device, the test holds on XLA too,
    but for what else it asks. Elsewhere the branch without CUDA moves as well, or the test asks for any
    accelerator. Option `trusting`: also where the branch calls functions that may need CUDA."""
    if not isinstance(fact, DeviceChoice) or fact.via != "move" or "availability" not in fact.parts:
        return None
    if fact.form == "own":  # a class of the project moves itself by `cuda`, and has no `to`
        return None
    if whole := decided_by_flag(fact, context):
        return whole
    mirrored = fact.form == "mirrored"  # the other branch calls the same functions: they need no CUDA
    trusting = mirrored or bool(options.get("trusting"))
    expression = path_to(context.module, *fact.parts["statement"])[-1]
    if isinstance(expression, ir.IfExp):
        return moves_itself(expression, fact, context) or placed_in_place(expression, fact, context, trusting)
    node = statement_at(context.module, fact.parts["statement"])
    if not isinstance(node, ir.If):
        return None
    calls = list(_moves(node))
    if not calls:
        elsewhere = None if mirrored else move_elsewhere(fact, node, context)
        return elsewhere or placed_in_place(node, fact, context, trusting)
    test = (node.test.start, node.test.end)
    device = device_expression(context, fact, test, from_scope=False)
    if device is None or "\n" in context.text(test):
        return None
    asked = f'{device.text}.type == "xla"'
    if "rest" in fact.parts:
        asked = f"{context.text(fact.parts['rest'])} and {asked}"
    edits = [context.edit(test[1], test[1], f" or {asked}")]
    for call in calls:
        assert isinstance(call.func, ir.Attribute)
        start = call.func.attr_start
        edits += [
            context.edit(start, call.func.end, "to"),
            context.edit(call.args_start, call.args_start, device.text),
        ]
    return Draft(f"Move to XLA too: `... or {asked}`", (*device.edits, *edits), device.creates)


def _moves(node: ir.If) -> Iterator[ir.Call]:
    """The `.cuda()` calls under the test; nothing if something else stands there."""
    found: list[ir.Call] = []
    for statement in node.body:
        match statement:
            case ir.Assign(value=ir.Sequence(elements=values)):
                pass
            case ir.Assign(value=value) | ir.ExprStmt(value=value):
                values = (value,)
            case _:
                return
        for value in values:
            if not isinstance(value, ir.Call) or not isinstance(value.func, ir.Attribute) or value.args:
                return
            if value.func.attr != "cuda":
                return
            found.append(value)
    yield from found
