"""The interpreter: runs a module on abstract values and says what tensors, loops and modules do in it."""

from __future__ import annotations

from typing import NamedTuple

from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.machine import Machine
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis

__all__ = ["Event", "Outcome", "interpret"]


class Outcome(NamedTuple):
    """Events by statement, the functions that run in every step (by the identity of their
    definitions), and the functions that calls were not followed into: there was too much to run."""

    recorder: Recorder
    hot: frozenset[int]
    unfollowed: frozenset[str]


NOTHING_RUN = Outcome(Recorder(), frozenset(), frozenset())


def interpret(analysis: Analysis, scopes: ScopeTable, regions: Regions) -> Outcome:
    """What is met in a run of the module, then of each function that nothing has called."""
    machine = Machine(analysis, scopes, regions)
    machine.block(analysis.module.body)
    machine.calls.entry.roots()
    machine.recorder.finish()
    return Outcome(machine.recorder, frozenset(machine.calls.entry.hot), frozenset(machine.unfollowed))
