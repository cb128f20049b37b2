"""`torch.cuda.FloatTensor` becomes the host's type, and what it makes or converts is moved."""

from __future__ import annotations

from functools import partial

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.fix.context import Draft, Expression, FixContext, FixDeclined, Options
from xlamig.fix.device import written_device
from xlamig.fix.meaning import keeps_meaning
from xlamig.fix.placements import Placements
from xlamig.fix.scopes import bindings, dotted_name, path_to


def tensor_type(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Return the draft for a type that is called, converted to or kept under one name. Where a setting picks
    between it and the host's type, the setting decides the device. Option `trusting`: also where a tensor may
    be what a type is called with."""
    if not isinstance(fact, ApiUse) or not fact.name.startswith("torch.cuda."):
        return None
    path = path_to(context.module, *fact.parts.get("callee", fact.span))
    match path[-3:]:
        case [ir.Assign(targets=(ir.Attribute() as kept,)), ir.IfExp() as choice, ir.Attribute() as found]:
            if options.get("trusting") and found is choice.body:
                return _maker(kept, choice, found, fact, context)
    match path[-2:]:
        case [ir.IfExp(body=ir.Attribute(), orelse=ir.Attribute()) as choice, _]:
            device = partial(chosen_by_setting, context, fact, choice)
            root: ir.Node = choice
        case [ir.Assign(targets=(ir.Name(id=name),)), _] if len(bindings(context.module, name)) > 1:
            return None
        case [*_, ir.Attribute() as root]:
            device = partial(written_device, context, fact)
        case _:
            return None
    placements = Placements(context, device, bool(options.get("trusting")))
    placements.rewrite(root, lambda _: None)
    if not placements.count:
        return None
    message = "Use the host's type, and move what it makes to the program's device"
    return Draft(message, tuple(placements.edits), placements.creates)


def _maker(
    kept: ir.Attribute, choice: ir.IfExp, found: ir.Attribute, fact: Fact, context: FixContext
) -> Draft | None:
    """`self.Tensor = torch.cuda.FloatTensor if gpus else torch.Tensor`: for CUDA, and now for XLA, a function
    that makes tensors, if all that is seen of the attribute is that it is called."""
    nodes = list(ir.walk(context.module))
    used = [node for node in nodes if isinstance(node, ir.Attribute) and node.attr == kept.attr]
    called = {id(node.func) for node in nodes if isinstance(node, ir.Call)}
    made = {id(choice.orelse), id(kept)}
    host = dotted_name(choice.orelse)
    if "types" in context.elsewhere or host not in ("torch.Tensor", f"torch.{found.attr}"):
        raise FixDeclined("something may convert to the type, or ask for it")
    if not all(id(node) in called | made or dotted_name(node).startswith("torch.") for node in used):
        raise FixDeclined(f"`{context.text_of(kept)}` is passed on")
    device = written_device(context, fact, (found.start, found.end))
    text = f"(lambda *data: {host}(*data).to({device.text}))"
    message = f"Let `{context.text_of(kept)}` make tensors on the program's device"
    edits = (*device.edits, context.edit(found.start, found.end, text))
    return Draft(message, edits, device.creates)


def chosen_by_setting(
    context: FixContext, fact: Fact, choice: ir.IfExp, place: Span, index: str
) -> Expression:
    """Return the device of tensors whose type a setting chooses: the program's, or the CPU."""
    setting = dotted_name(choice.test)
    if (
        not setting.lstrip(".")
        or setting.startswith(".")
        or not keeps_meaning(context.module, choice, setting, place)
    ):
        raise FixDeclined(f"`{context.text_of(choice.test)}` may differ there")
    device = written_device(context, fact, place, index)
    text = f'{device.text} if {setting} else "cpu"'
    if dotted_name(choice.orelse).startswith("torch.cuda."):
        text = f'"cpu" if {setting} else {device.text}'
    return Expression(text, device.edits, device.creates)
