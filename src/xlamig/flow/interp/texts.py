"""Texts that are put together, and those that unknown functions make: the answers of `model.generate(x)`."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.domain import (
    BOOL,
    MAX_ALTERNATIVES,
    TEXT,
    TOP,
    AbstractValue,
    constant,
    join_all,
)
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.name_parts import is_meant, name_parts
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


def joined_texts(parts: Sequence[AbstractValue]) -> AbstractValue:
    """Return the text that an f-string or `+` makes of others; its beginning may name a device."""
    texts = [part.const for part in parts if isinstance(part.const, str)]
    if len(texts) == len(parts):
        return constant("".join(texts))
    first = parts[0].const if parts else None
    return TEXT.replace(place=constant(first.partition(":")[0]).place if isinstance(first, str) else "")


def filled_text(text: AbstractValue, blank: str, values: Sequence[AbstractValue]) -> AbstractValue:
    """Return the text that `"_%s" % name` and `"_{}".format(name)` make; its beginning may name a device."""
    around = text.const.split(blank) if isinstance(text.const, str) else ()
    value = values[0].const if len(values) == 1 else None
    if len(around) == 2 and isinstance(value, str) and not set("%{}").intersection("".join(around)):
        return constant(value.join(around))
    beginning = text.const[: _blank(text.const)] if isinstance(text.const, str) else ""
    first = constant(beginning) if beginning else values[0] if values else TEXT
    return joined_texts([first, TEXT])


def _blank(text: str) -> int:
    """Return the position of the first `%` or `{` of a text."""
    return min((at for at in (text.find("%"), text.find("{")) if at >= 0), default=len(text))


def methods_by_text(state: State, owner: AbstractValue, name: ir.Expr | None, node: ir.Call) -> AbstractValue:
    """Return the methods that `getattr(self, f"compute_{kind}")` may mean."""
    parts = name_parts(name) if name is not None else None
    if parts is None or not isinstance(owner.ref, ClassInfo):
        return TOP
    every = {name for cls in owner.ref.lineage() for name in cls.methods}
    meant = sorted(name for name in every if is_meant(name, parts.prefix, parts.suffix))
    if len(meant) > MAX_ALTERNATIVES:
        return TOP
    return join_all(state.semantics.attribute(owner, name, node) for name in meant)
