"""Tests that no name keeps, `if torch.cuda.is_available():` and `if x.is_cuda:`, and what they guard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact, Span
from xlamig.fix.context import Draft, Expression, FixContext, FixDeclined, Options
from xlamig.fix.device import written_device
from xlamig.fix.meaning import keeps_meaning
from xlamig.fix.placements import Placements
from xlamig.fix.scopes import dotted_name, path_to


def placed_in_place(
    node: ir.If | ir.IfExp, fact: DeviceChoice, context: FixContext, trusting: bool
) -> Draft | None:
    """Return the draft that asks for any accelerator and places there what the test guards, tensor types
    included; `FixDeclined` where the branch for CUDA needs CUDA. `trusting`: also where the branch calls
    functions that may need it."""
    asked = fact.parts["availability"]
    if not trusting and not all(map(_is_known, _guarded_calls(node, asked))):
        return None
    device = partial(written_device, context, fact)
    placements = Placements(context, device, defaults=trusting and fact.form != "mirrored")
    for root in _guarded_code(node, asked):
        placements.rewrite(root, lambda _: None)
    if not placements.count:
        return None
    edits = dict(placements.edits)
    if not _replaces(placements, node, context):
        chosen = device(asked, "")
        edits |= dict.fromkeys((*chosen.edits, context.edit(*asked, f'{chosen.text}.type != "cpu"')))
    message = "Ask for any accelerator, and place there what depends on it"
    return Draft(message, tuple(edits), placements.creates)


def device_of_tensor(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Return the draft that moves what `if x.is_cuda:` guards to the device of `x`, wherever that is."""
    if not isinstance(fact, DeviceChoice) or fact.via != "test" or fact.form != "is-cuda":
        return None
    test = fact.parts["test"]
    choices = (n for n in path_to(context.module, *test) if isinstance(n, ir.If | ir.IfExp))
    node = next((n for n in choices if (n.test.start, n.test.end) == test), None)
    if node is None or not isinstance(node.test, ir.Attribute) or not _is_only_moved(node, test):
        return None
    text = context.text_of(node.test.value)
    placements = Placements(context, partial(_of_tensor, context, node, text))
    for root in _guarded_code(node, test):
        placements.rewrite(root, lambda _: None)
    if not placements.count:
        return None
    edits = dict(placements.edits)
    if not _replaces(placements, node, context):
        edits[context.edit(*test, f'{text}.device.type != "cpu"')] = None
    return Draft(f"Follow `{text}` to its device, whichever it is", tuple(edits))


def _guarded_code(node: ir.If | ir.IfExp, asked: Span) -> tuple[ir.Node, ...]:
    """Return what the test guards: the branch for CUDA, or a whole selection."""
    if isinstance(node, ir.IfExp):
        return (node,)
    return node.orelse if _is_denied(node.test, asked) else node.body


def _guarded_calls(node: ir.If | ir.IfExp, asked: Span) -> Iterator[ir.Call]:
    denied = _is_denied(node.test, asked)
    roots = (
        (node.orelse if denied else node.body,) if isinstance(node, ir.IfExp) else _guarded_code(node, asked)
    )
    for root in roots:
        yield from _outermost_calls(root)


def _replaces(placements: Placements, node: ir.If | ir.IfExp, context: FixContext) -> bool:
    """Return whether the whole choice was replaced, test and all: both sides are types of tensors."""
    whole = context.source.range(node.start, node.end)
    return any(edit.place == whole for edit in placements.edits)


def _is_denied(test: ir.Expr, asked: Span) -> bool:
    return any(
        isinstance(inner, ir.Unary)
        and inner.op == "not"
        and (inner.operand.start, inner.operand.end) == asked
        for inner in ir.walk(test)
    )


# ---------------------------------------------------------------------- the device of a tensor


def _is_only_moved(node: ir.If | ir.IfExp, asked: Span) -> bool:
    """Return whether the side for CUDA makes and moves tensors, and does nothing else, as a kernel does."""
    statements = node.body if isinstance(node, ir.If) else ()
    plain = all(isinstance(statement, ir.Assign | ir.ExprStmt) for statement in statements)
    return plain and all(map(_is_placed, _guarded_calls(node, asked)))


def _outermost_calls(node: ir.Node) -> Iterator[ir.Call]:
    if isinstance(node, ir.Call):
        yield node
        return
    for inner in ir.children(node):
        yield from _outermost_calls(inner)


def _is_known(call: ir.Call) -> bool:
    return _is_placed(call) or dotted_name(call.func).startswith("torch.")


def _is_placed(call: ir.Call) -> bool:
    """Return whether a call is a placement, or a method of what one returns."""
    node: ir.Expr = call
    while isinstance(node, ir.Call | ir.Attribute):
        if isinstance(node, ir.Attribute) and dotted_name(node).startswith("torch.cuda."):
            return True
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == "cuda":
            return True
        node = node.func if isinstance(node, ir.Call) else node.value
    return False


def _of_tensor(context: FixContext, node: ir.If | ir.IfExp, text: str, place: Span, index: str) -> Expression:
    """Return `tensor.device` where it is still the device of the tensor that was asked."""
    if index not in ("", f"{text}.get_device()"):
        raise FixDeclined(f"`{index}` may be another device than that of `{text}`")
    path = text.removeprefix("next(").partition("(")[0]
    is_name = path.replace(".", "").isidentifier()
    if not is_name or not keeps_meaning(context.module, node, path, place, calls=False):
        raise FixDeclined(f"`{text}` may be another tensor there")
    return Expression(f"{text}.device")
