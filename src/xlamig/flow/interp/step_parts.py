"""Loops that are a part of one step: of a batch, or of an update."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.carried_names import names_in
from xlamig.flow.interp.conventions import is_move
from xlamig.flow.interp.domain import AbstractValue, Mark
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.scopes import path_of

WITHOUT_GRADIENTS = frozenset({"torch.no_grad", "torch.inference_mode"})


def is_without_gradients(m: State, function: ir.FunctionDef, node: ir.Node) -> bool:
    """Return whether a function, or a `with` in it around a node, computes no gradients."""
    around = (
        item.value
        for part in ir.path_down(function, node)
        if isinstance(part, ir.With)
        for item in part.items
    )
    modes = (mode.func if isinstance(mode, ir.Call) else mode for mode in (*function.decorators, *around))
    return any(m.names.dotted(mode, m.frame.scope) in WITHOUT_GRADIENTS for mode in modes)


def is_part_of_step(m: State, node: ir.For | ir.While, iterable: AbstractValue) -> bool:
    """Return whether a loop stands in one that trains or loads batches, or whose iteration has called a model
    before: it goes through parts of that batch, such as the crops of an image. One over numbers may go from
    position to position, each of which needs the one before."""
    around = [one for one in m.loops if one.base == m.base and one.node.start < node.start < one.node.end]
    if any(loop.loads or loop.kind == "training" for loop in around):
        return True
    follows = Effect.MODEL_CALL in m.effects.must or any(loop.follows for loop in around[1:])
    return bool(around) and follows and iterable.trait is not Mark.RANGE and not _moves_target(node)


def _moves_target(node: ir.For | ir.While) -> bool:
    """Return whether an iteration moves what the loop gives it to a device: a batch of its own."""
    targets = names_in(node.target) if isinstance(node, ir.For) else set()
    calls = (part for statement in node.body for part in ir.walk(statement) if isinstance(part, ir.Call))
    moved = (call.func.value for call in calls if is_move(call) and isinstance(call.func, ir.Attribute))
    return any(path_of(value).partition(".")[0] in targets for value in moved)


def note_part_of_training(m: State, loop: Loop, effects: Effects) -> None:
    """Record the proof "in-step" of a loop that calls the model, with gradients, in a step of training: a
    boundary in it would cut the step, whoever else calls its function."""
    inside = loop.kind in ("plain", "graph-breaking") and m.frequency == "step"
    if inside and Effect.MODEL_CALL in effects.must and any(one.kind == "training" for one in m.loops):
        function = m.frame.scope.node
        if not isinstance(function, ir.FunctionDef) or not is_without_gradients(m, function, loop.node):
            m.prove(loop.header, in_step=True)
