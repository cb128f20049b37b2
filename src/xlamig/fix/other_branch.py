"""Repeats the moves below a test of CUDA in its other branch, which runs on XLA and on the CPU."""

from __future__ import annotations

from typing import TypeGuard

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext
from xlamig.fix.device import device_expression
from xlamig.fix.insertion import insert_after
from xlamig.fix.moved import moves_of
from xlamig.fix.scopes import dotted_name


def move_elsewhere(fact: DeviceChoice, node: ir.If, context: FixContext) -> Draft | None:
    """Write the moves below `else:`, or at the end of the branch without CUDA, which only logs."""
    negated = isinstance(node.test, ir.Unary)
    chosen, other = (node.orelse, node.body) if negated else (node.body, node.orelse)
    device = device_expression(context, fact, (node.test.start, node.test.end), from_scope=False)
    if device is None:
        return None
    lines = moves_of(chosen, device.text, context)
    if not lines:
        return None
    rest = context.text(fact.parts["rest"]) if "rest" in fact.parts else ""
    if _asks_for_index(node.test, chosen):  # without one all GPUs are meant, and other code moves
        rest = f"not {context.text(fact.parts['availability'])}"
    if other and not rest:
        edit = insert_after(context, other[-1], lines)
    elif not other:
        head = f"elif {rest}:" if rest else "else:"
        edit = insert_after(context, node, [head, *(f"{context.module.indent}{line}" for line in lines)])
    else:
        return None
    if edit is None:
        return None
    message = f"Without CUDA use `{_first_move(lines)}`, which moves to XLA or stays on the CPU"
    return Draft(message, (*device.edits, edit), device.creates)


def moves_with_device(node: ir.If, device: str, context: FixContext) -> Draft | None:
    """Write the moves below an `else:`, to the device that the test asks for CUDA; nothing else may stand
    under the test."""
    lines = moves_of(node.body, device, context)
    if node.orelse or not lines or len(lines) < len(node.body):
        return None
    edit = insert_after(context, node, ["else:", *(f"{context.module.indent}{line}" for line in lines)])
    return Draft(f"On other devices than CUDA use `{_first_move(lines)}`", (edit,)) if edit else None


def _first_move(lines: list[str]) -> str:
    return next(line.strip() for line in lines if line.endswith(")"))


def _asks_for_index(test: ir.Expr, chosen: ir.Block) -> bool:
    """Return whether a test requires that something is not None that is then the index of a GPU."""
    given = {dotted_name(node.left) for node in ir.walk(test) if _is_given(node)}
    calls = (node for statement in chosen for node in ir.walk(statement) if isinstance(node, ir.Call))
    return any(dotted_name(arg.value) in given for call in calls for arg in call.args)


def _is_given(node: ir.Node) -> TypeGuard[ir.Compare]:
    """Return whether an expression says that something is not None."""
    match node:
        case ir.Compare(ops=("is not",), comparators=(ir.Const(value=None),)):
            return True
    return False


def moves_itself(node: ir.IfExp, fact: Fact, context: FixContext) -> Draft | None:
    """`model.cuda() if torch.cuda.is_available() else model` as a move to the device that there is."""
    match node.body:
        case ir.Call(func=ir.Attribute(attr="cuda", value=owner), args=()):
            pass
        case _:
            return None
    if context.text_of(owner) != context.text_of(node.orelse):
        return None
    place = (node.start, node.end)
    device = device_expression(context, fact, place, from_scope=False)
    if device is None or "\n" in context.text(place):
        return None
    text = f"{context.text_of(owner)}.to({device.text})"
    if "rest" in fact.parts:
        left = context.text_of(node.orelse)
        text = f"{text} if {context.text(fact.parts['rest'])} else {left}"
    return Draft(f"Use `{text}`", (*device.edits, context.edit(*place, text)), device.creates)
