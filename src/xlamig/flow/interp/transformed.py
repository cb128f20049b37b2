"""Functions that a library makes of others: compiled ones, and those that return gradients."""

from __future__ import annotations

from xlamig.flow.interp.domain import TOP, AbstractValue, Mark
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect


def transformed(first: AbstractValue, word: str) -> AbstractValue:
    """Return what a call makes of a function or module, by its word in the table."""
    if word == "compiled":
        return first.replace(trait=Mark.COMPILED) if first.kind in ("function", "module") else first
    return first.replace(trait=Mark.GRADIENTS) if first.kind == "function" else TOP


def of_transformed(m: State, callee: AbstractValue, result: AbstractValue) -> AbstractValue:
    """Return what a call of a function gives whose own result is `result`."""
    if callee.trait is Mark.COMPILED:  # torch_xla.compile ends the step itself
        m.effects.add(Effect.SYNC)
    elif callee.trait is Mark.GRADIENTS:
        m.effects.add(Effect.GRADIENT, Effect.BACKWARD)
        return TOP  # of the form of its arguments
    return result
