"""The interpreter: runs a module on abstract values and says what tensors, loops and modules do in it."""

from __future__ import annotations

from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.machine import Machine
from xlamig.flow.regions import Regions
from xlamig.flow.scopes import ScopeTable
from xlamig.flow.site import Analysis

__all__ = ["Event", "Recorder", "interpret"]


def interpret(analysis: Analysis, scopes: ScopeTable, regions: Regions) -> Recorder:
    """What is met in a run of the module, then of each function that nothing has called."""
    machine = Machine(analysis, scopes, regions)
    machine.block(analysis.module.body)
    machine.calls.entry.roots()
    machine.recorder.finish()
    return machine.recorder
