"""Values that a loop counts, carries from iteration to iteration, or lets grow."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig.facts import Why
from xlamig.flow.interp.carried_names import counts_up, moves_on
from xlamig.flow.interp.clocks import carried_reading
from xlamig.flow.interp.domain import (
    LIKELY,
    MISSING,
    POSSIBLE,
    AbstractValue,
    Carried,
    Cause,
    Grown,
    Mark,
    Trait,
    element_of,
    join,
    join_all,
    map_sequence,
    tensors_in,
)
from xlamig.flow.interp.earlier_iterations import read_first
from xlamig.flow.interp.frames import STEPS, Env, Loop, copy_env
from xlamig.flow.interp.growth import record_growth
from xlamig.flow.interp.state import State

_CAUSES: Mapping[str, Cause] = {
    "training": "step-counter",
    "evaluation": "step-counter",
    "decoding": "position",
}


class LoopValues:
    def __init__(self, state: State) -> None:
        self.m = state
        self.cut: set[int] = set()
        """The loops that run the graph in every iteration."""

    def counted(self, thing: AbstractValue, loop: Loop) -> AbstractValue:
        """Return the counter of a loop, marked as a number that changes."""
        if thing.kind == "sequence" and thing.items:
            return thing.replace(items=tuple(self.counted(item, loop) for item in thing.items))
        if thing.kind == "sequence" and thing.trait is None and thing.element is not None:
            return thing.replace(element=self.counted(thing.element, loop))
        if thing.trait is not Mark.COUNTER:
            return thing
        if self.m.first_pass:  # the loop's kind is not known yet
            return thing.replace(loop=loop.id)
        cause: Cause = "step-counter" if loop.rolls else _CAUSES.get(loop.kind, "")
        if cause and not self.runs_graph(loop):
            return thing.replace(cause=cause, loop=loop.id, trait=None, sure=POSSIBLE)
        return thing.replace(cause=cause or thing.cause, loop=loop.id if cause else thing.loop, trait=None)

    def runs_graph(self, loop: Loop) -> bool:
        """Return whether something runs the graph in every iteration: a step, or a host read."""
        return loop.kind == "training" or id(loop.node) in self.cut

    def entry(self, before: Env, after: Env, loop: Loop) -> Env:
        """Return the environment at the start of any iteration."""
        heads = copy_env(before)
        for name, thing in after.items():
            old = before.get(name)
            if old is None and thing.kind == "tensor" and name in read_first(loop.node):
                old = thing
            elif old is None or (old is thing and old.kind != "unknown"):
                continue
            heads[name] = self._carried(name, old, thing, loop)
        return heads

    def _carried(self, name: str, old: AbstractValue, new: AbstractValue, loop: Loop) -> AbstractValue:
        reading = carried_reading(old, new, loop.id)
        if reading is not None:
            return reading
        both = join(old, new)
        by_loop = _CAUSES.get(loop.kind, "")
        if by_loop and _may_count(old, new, loop, name):
            sure = LIKELY if self.runs_graph(loop) else POSSIBLE
            return AbstractValue("number", cause=by_loop, loop=loop.id, sure=sure)
        if both.kind == "tensor":
            return _marked(both, Carried(name), loop.id)
        if both.kind == "number" and old.kind == "number":
            if new.loop == loop.id:  # `previous = step`
                new = self.counted(new, loop)
                both = join(old, new)
            counts = (
                isinstance(old.const, int | float) and new.const is not MISSING and old.const != new.const
            )
            cause = new.cause or (by_loop if counts else "")
            if loop.kind == "epoch":
                cause = new.cause
            return both.replace(cause=cause, loop=loop.id if cause else 0, const=MISSING)
        if both.kind == "sequence" and new.trait is Mark.APPENDED and _is_same_list(old, new, loop):
            return AbstractValue(
                "sequence",
                element=join_all((element_of(old), element_of(new)))
                if old.items or old.element
                else element_of(new),
                trait=Mark.GROWS,
                loop=loop.id,
                ref=new.ref,
            )
        return _marked(both, Carried(name), loop.id) if both.kind == "sequence" else both

    def growing(self, heads: Env, after: Env, loop: Loop) -> Env:
        """`x = torch.cat([x, y])`: what has a different shape every iteration."""
        found: Env = {}
        for name, thing in after.items():
            if name in heads:
                for part in tensors_in(thing):
                    grown = part.loop == loop.id and part.trait == Grown(name) and part.ref
                    if grown and self.grew(part, loop):
                        found[name] = _marked(heads[name], Carried(name), loop.id, grows=True)
        return found

    def grew(self, thing: AbstractValue, loop: Loop) -> bool:
        """Record a value that is longer after each iteration; return whether that is reported."""
        if loop.kind not in STEPS:
            return False
        # Without an end of the step the loop is one graph, which is longer for each token more.
        cut = loop.kind == "decoding" or self.runs_graph(loop)
        sure = thing.sure if cut else POSSIBLE
        span = (loop.node.start, loop.header.end)
        why = (Why("in every iteration of this loop", span),)
        record_growth(self.m, thing, sure, why, "", (loop.node, self.runs_graph(loop)))
        return True


def _may_count(old: AbstractValue, new: AbstractValue, loop: Loop, name: str) -> bool:
    """Return whether a loop counts in a name that held a number, or what is not known, before it."""
    if new.kind not in ("number", "unknown") or new.cause:
        return False
    if isinstance(old.const, int):
        return moves_on(loop.node, name)
    around = old.kind == "number" and old.const is MISSING and not old.cause  # a loop around goes on with it
    return (around or old.kind == "unknown") and counts_up(loop.node, name)


def _is_same_list(old: AbstractValue, new: AbstractValue, loop: Loop) -> bool:
    """Return whether a list lives on from iteration to iteration; `ref` is where it was made."""
    made_inside = isinstance(new.ref, int) and loop.node.start <= new.ref < loop.node.end
    return old.kind == "sequence" and old.ref == new.ref and not made_inside


def _marked(thing: AbstractValue, trait: Trait, loop: int, grows: bool = False) -> AbstractValue:
    """Return a tensor, or a sequence with its tensors, that has a trait in a loop."""

    def mark(part: AbstractValue) -> AbstractValue:
        if part.kind != "tensor":
            return part
        return part.replace(trait=trait, loop=loop, cause="growing" if grows else part.cause)

    return map_sequence(thing, mark)
