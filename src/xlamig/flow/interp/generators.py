"""Generators of the program: what they yield, and the loader whose batches they pass on."""

from __future__ import annotations

from xlamig.flow.interp.domain import AbstractValue, Mark, join
from xlamig.flow.interp.frames import Frame
from xlamig.flow.interp.last_slices import last_rest
from xlamig.flow.interp.state import State


def yield_value(m: State, thing: AbstractValue) -> None:
    """Let the running generator yield a value, and note the loader that its loops take batches from."""
    frame, node = m.frame, m.frame.scope.node
    for loop in m.loops if node is not None else ():
        if node is not None and loop.base == m.base and node.start <= loop.node.start < node.end:
            partial = (one for one in loop.taken if one.trait is Mark.PARTIAL)
            frame.passed_on = next(partial, frame.passed_on)
    frame.yielded = thing if frame.yielded is None else join(frame.yielded, thing)


def generator_of(m: State, frame: Frame) -> AbstractValue | None:
    """Return what a call of a generator gives; None for another function."""
    if frame.yielded is None:
        return None
    loader = frame.passed_on or last_rest(m, frame.scope.node)
    made = AbstractValue("sequence", element=frame.yielded)
    return made if loader is None else made.replace(trait=loader.trait, ref=loader.ref, sure=loader.sure)
