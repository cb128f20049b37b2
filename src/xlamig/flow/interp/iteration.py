"""The parts of a value: what an iteration yields, and what unpacking gives."""

from __future__ import annotations

from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    NUMBER,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    element_of,
    placed,
)
from xlamig.flow.interp.kept import is_carried
from xlamig.flow.interp.last_batches import take_batch
from xlamig.flow.interp.results import dimension_size
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect


class Iteration:
    def __init__(self, state: State) -> None:
        self.m = state

    def iterated(self, thing: AbstractValue) -> AbstractValue:
        """Return the value that an iteration over `value` yields."""
        match thing.kind:
            case "tensor" | "unknown" if is_carried(thing):
                return thing
            case "tensor":
                return thing.replace(shape=thing.shape[1:] if thing.shape else None, trait=None, source="")
            case "sequence":
                return element_of(thing)
            case "loader":
                self.m.effects.add(Effect.BATCH)
                return thing.element or AbstractValue(
                    "tensor", thing.place or "host", sure=LIKELY, loose=True
                )
            case "dataset":
                return AbstractValue("tensor", "host", sure=LIKELY, loose=True)
            case "mapping":
                return TEXT
            case "module":
                part = thing.element
                if part is None or part.kind == "unknown":  # what a ModuleList holds is a module
                    part = AbstractValue("module", sure=LIKELY, loose=True)
                return placed(part, thing)
            case "parameters":
                return thing.element or TOP
            case "foreign":
                return FOREIGN
            case "unknown" if thing.place:
                return thing
            case "instance":
                return self._of_instance(thing)
        return TOP

    def _of_instance(self, thing: AbstractValue) -> AbstractValue:
        """Return the value that an object of the project's class yields: a custom loader."""
        method = self.m.semantics.method_of(thing, "__iter__")
        made = thing if method is None else self.m.semantics.call(method, Args(), None)
        if made.kind == "instance":
            return self._next(made)
        if made.kind not in ("sequence", "loader"):
            return TOP
        take_batch(self.m, made)
        self.m.effects.add(Effect.BATCH)
        return self.iterated(made)

    def _next(self, thing: AbstractValue) -> AbstractValue:
        """Return what `__next__` of an object gives, or `__getitem__` for one position after the other."""
        for name, given in (("__next__", ()), ("__getitem__", (NUMBER,))):
            method = self.m.semantics.method_of(thing, name)
            if method is not None:
                self.m.batches += 1
                made = self.m.semantics.call(method, Args([*given]), None)
                self.m.batches -= 1
                if made.kind != "unknown":
                    self.m.effects.add(Effect.BATCH)
                return made
        return TOP

    def unpacked(self, thing: AbstractValue, count: int) -> list[AbstractValue]:
        """The parts of a thing that is assigned to several names."""
        if thing.kind == "sequence" and thing.items is not None and len(thing.items) == count:
            return list(thing.items)
        if thing.trait is Mark.SHAPE and count > 1:  # what was selected, was so along the first dimension
            return [dimension_size(thing, i) for i in range(count)]
        return [self.iterated(thing)] * count
