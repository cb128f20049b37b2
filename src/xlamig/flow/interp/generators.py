"""Generators of the program: what they yield, how often, and the loader whose batches they pass on."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue, Mark, join
from xlamig.flow.interp.events import Event
from xlamig.flow.interp.frames import STEPS, Frame, Loop
from xlamig.flow.interp.last_slices import last_rest
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects


def yield_value(m: State, thing: AbstractValue) -> None:
    """Let the running generator yield a value; note the loader that its loops take batches from, and whether
    each of its steps yields."""
    frame, node = m.frame, m.frame.scope.node
    for loop in m.loops if node is not None else ():
        if node is not None and loop.base == m.base and node.start <= loop.node.start < node.end:
            partial = (one for one in loop.taken if one.trait is Mark.PARTIAL)
            frame.passed_on = next(partial, frame.passed_on)
            if loop.kind in STEPS and m.frequency == "step":
                frame.yields_steps = loop.id
    frame.yielded = thing if frame.yielded is None else join(frame.yielded, thing)


def generator_of(m: State, frame: Frame) -> AbstractValue | None:
    """Return what a call of a generator gives; None for another function."""
    if frame.yielded is None:
        return None
    made = AbstractValue("sequence", element=frame.yielded)
    if frame.yields_steps:
        return made.replace(trait=Mark.STEPS, loop=frame.yields_steps)
    loader = frame.passed_on or last_rest(m, frame.scope.node)
    return made if loader is None else made.replace(trait=loader.trait, ref=loader.ref, sure=loader.sure)


def per_step(made: AbstractValue, parts: Iterable[AbstractValue]) -> AbstractValue:
    """Return what goes through several sequences at once; what one yields once per step sets the pace."""
    steps = next((part for part in parts if part.trait is Mark.STEPS), None)
    return made if steps is None else made.replace(trait=Mark.STEPS, loop=steps.loop)


def leave_open(m: State, loop: Loop, boundary: Event | None) -> None:
    """Remember what ends the steps of a generator's loop: what takes its results may end them too."""
    if boundary is not None and m.frame.yields:
        m.program.open_steps[loop.id] = m.recorder, boundary


def end_steps(m: State, loop: Loop, effects: Effects) -> None:
    """Let a loop that reads in each iteration end the steps of the generators whose results it takes."""
    if effects.must.isdisjoint((Effect.READ, Effect.POSSIBLE_READ)):
        return
    for iterable in loop.taken:
        if iterable.trait is Mark.STEPS and iterable.loop in m.program.open_steps:
            recorder, boundary = m.program.open_steps.pop(iterable.loop)
            if boundary.fields["boundary"] in ("none", "some") and recorder.holds(boundary):
                recorder.change(boundary, boundary="read", grows="")


def repeats_steps(m: State, loop: Loop) -> bool:
    """Return whether each iteration belongs to a step of a loop elsewhere: it takes what a generator yields
    once per step, or, in `__iter__`, moves a batch to the device for the caller's loop."""
    if any(iterable.trait is Mark.STEPS for iterable in loop.taken):
        return True
    function = m.frame.scope.node
    if not m.frame.yields or not isinstance(function, ir.FunctionDef) or not loop.moves:
        return False
    return function.name == "__iter__" and any(isinstance(n, ir.Yield) for n in ir.walk(loop.node))
