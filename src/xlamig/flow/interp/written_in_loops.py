"""Tell whether a loop reads the tensor that it writes to."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def is_read_again(state: State, node: ir.Subscript) -> bool:
    """Return whether the loop also reads the tensor that it writes to, or executes all tensors: in a step of
    training, and by a call that ends the step."""
    loop = next(
        (loop for loop in reversed(state.loops) if loop.kind in ("training", "decoding", "evaluation")),
        None,
    )
    if loop is None or loop.kind == "training" or _syncs(state, loop):
        return True
    tensor = node.value
    if isinstance(tensor, ir.Attribute) and tensor.attr == "data":
        tensor = tensor.value
    name = re.escape(state.source(tensor))
    text = state.analysis.text
    inside = loop.node.start <= node.start < loop.node.end
    around: ir.Node = loop.node if inside else state.frame.scope.node or loop.node
    written = rf"(?<![\w.]){name}(?:\.data)?\s*\[[^\]]*\]\s*=(?!=)"
    uses = len(re.findall(rf"(?<![\w.]){name}\b", text[around.start : around.end]))
    return uses > len(re.findall(written, text[around.start : around.end]))


def _syncs(state: State, loop: Loop) -> bool:
    """Return whether a loop calls what ends a step, which computes every tensor that is alive."""
    ends = table.names("boundaries", "sync")
    calls = (node for statement in loop.node.body for node in ir.walk(statement) if isinstance(node, ir.Call))
    return any(state.names.dotted(call.func, state.frame.scope) in ends for call in calls)
