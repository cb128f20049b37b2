"""The interpreter: runs a module on abstract values and says what tensors, loops and modules do in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis
from xlamig.flow.model.summaries import CallContext

__all__ = ["Event", "Outcome", "interpret"]


class Outcome(NamedTuple):
    """Events by statement, the functions that run every step (by the identity of their
    definitions), the functions that calls were not followed into because there was too much to run, and
    the calls of functions of other modules."""

    recorder: Recorder
    per_step: frozenset[int]
    unfollowed: frozenset[str]
    calls: tuple[CallContext, ...] = ()


NOTHING_RUN = Outcome(Recorder(), frozenset(), frozenset())


def interpret(
    analysis: Analysis, scopes: ScopeTable, regions: Regions, contexts: Iterable[CallContext] = ()
) -> Outcome:
    """Run the module, then each function that nothing has called, then what other modules call.

    Constructors come first: what they are given is what their classes' other methods work on.
    """
    machine = AbstractInterpreter(analysis, scopes, regions)
    entry = machine.calls.call_contexts
    machine.block(analysis.module.body)
    given = sorted(contexts, key=lambda context: not context.callee.endswith(".__init__"))
    made = [context for context in given if context.callee.endswith(".__init__")]
    for context in made:
        entry.called_from_outside(context)
    entry.roots()
    for context in given[len(made) :]:
        entry.called_from_outside(context)
    machine.recorder.finish()
    return Outcome(
        machine.recorder,
        frozenset(entry.per_step),
        frozenset(machine.unfollowed),
        tuple(machine.calls.project.contexts),
    )
