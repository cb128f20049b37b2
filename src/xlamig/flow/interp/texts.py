"""Texts that unknown functions make: `model.generate(images, questions)` that returns answers."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import BOOL, TEXT, AbstractValue
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.tensor_methods import is_text_method
from xlamig.knowledge import values as table


def text_method(state: State, owner: AbstractValue, name: str, node: ir.Call) -> AbstractValue | None:
    """Return the value of a method that only texts have; from here on its receiver is a text."""
    if owner.kind not in ("tensor", "unknown") or not is_text_method(name, node):
        return None
    assert isinstance(node.func, ir.Attribute)
    text_of(state, owner)
    if isinstance(node.func.value, ir.Name):
        state.put(node.func.value.id, TEXT)
    if name in table.names("texts", "answers"):
        return BOOL
    return AbstractValue("sequence", element=TEXT) if name in table.names("texts", "several") else TEXT


def text_of(state: State, thing: AbstractValue) -> AbstractValue:
    """Return the text that an unknown value is; who made it of device tensors has read them."""
    if thing.kind == "unknown" and thing.place in ("device", "either"):
        state.effects.add(Effect.READ, Effect.RESULT_READ)
    return TEXT
