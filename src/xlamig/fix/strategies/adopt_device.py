"""A program that chooses no device gets one: modules, tensors and batches are moved there."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.adoption.batches import Batches
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.devices import DeviceValues
from xlamig.fix.adoption.host import HostUses
from xlamig.fix.adoption.inputs import check_inputs
from xlamig.fix.adoption.modules import Modules
from xlamig.fix.adoption.tensors import Tensors
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import device_expression, may_decide_here, written_device
from xlamig.fix.imports import header_end, line_end
from xlamig.fix.scopes import bindings, reads
from xlamig.fix.template import together
from xlamig.knowledge import values

_NAME = "device"
_PROCESSES = re.compile(r"(?:^|\.)multiprocessing(?:\.|$)")


def adopt_device(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Choose the device once, below the imports, or where it is needed in a file that others import; move all
    that the file makes, or nothing."""
    if not isinstance(fact, DeviceChoice) or fact.via != "none":
        return None
    module = context.module
    tree, calls = Tree(module), Calls(module)
    _check(tree, calls)
    once = may_decide_here(context, (0, 0))
    device = _NAME if once else written_device(context, fact, fact.span).text
    modules = Modules(context, tree, calls, device)
    tensors = Tensors(context, tree, calls, device)
    known = DeviceValues(tree, calls, tensors.stays)
    moves = [
        *modules.edits(),
        *tensors.edits(),
        *Batches(context, tree, calls, known, tensors, device).edits(),
    ]
    check_inputs(tree, calls, known)
    moves += HostUses(context, tree, calls, known, tensors).edits()
    if not once:
        written = written_device(context, fact, fact.span)
        message = f"Move models, inputs and targets to `{device}`"
        return Draft(message, together((*written.edits, *moves)), written.creates)
    first = min(edit.place.start for edit in moves)
    after = header_end(context, (first, first))
    if after is None:
        raise FixDeclined("no import stands above the first use of a device")
    at, newline = line_end(context.source.text, after), context.module.newline
    chosen = device_expression(context, fact, (at, at), from_scope=False)
    if chosen is None:
        raise FixDeclined("no device can be written here")
    blank = 3 if any(edit.content.lstrip().startswith("def ") for edit in chosen.edits) else 2
    line = context.edit(at, at, f"{newline * blank}{_NAME} = {chosen.text}")
    return Draft(
        f"Choose a device once, `{_NAME} = {chosen.text}`, and move models, inputs and targets there",
        together((*chosen.edits, line, *moves)),
        chosen.creates,
    )


def _check(tree: Tree, calls: Calls) -> None:
    """Raise FixDeclined for a program that moving its tensors cannot help."""
    if bindings(tree.module, _NAME) or reads(tree.module, _NAME):
        raise FixDeclined(f"`{_NAME}` has another meaning in this file")
    for node in tree.nodes:
        match node:
            case ir.Alias(name=name) | ir.ImportFrom(module=name) if _PROCESSES.search(name):
                raise FixDeclined("it starts processes, and each needs its own device")
            case ir.Attribute() if calls.canonical(node) in values.names("placing", "compiled"):
                raise FixDeclined("TorchScript keeps the device that it was compiled for")
