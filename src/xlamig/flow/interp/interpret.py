"""Run a module, and the functions of other modules that it calls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from xlamig.flow.interp.events import Recorder, finish
from xlamig.flow.interp.given_arguments import restored_arguments
from xlamig.flow.interp.instance_attributes import restore_attributes
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.program import ModulesRun
from xlamig.flow.interp.visits import NO_VISIT, Visit, adopt
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis


class Outcome(NamedTuple):
    """Events by statement, where the functions and loops start whose bodies run every step, the functions
    that calls were not followed into because there was too much to run, what is found out about each module
    that ran, and whether one of these trains."""

    recorder: Recorder
    per_step: frozenset[int]
    unfollowed: frozenset[str]
    visits: Mapping[str, Visit] = MappingProxyType({})
    trains: bool = False


NOTHING_RUN = Outcome(Recorder(), frozenset(), frozenset())


def interpret(
    analysis: Analysis,
    scopes: ScopeTable,
    regions: Regions,
    texts: Mapping[str, ModuleText] = MappingProxyType({}),
    visit: Visit = NO_VISIT,
) -> Outcome:
    """Run the module, then each function that nothing has called.

    `texts` are modules whose functions may be run, `visit` is what other modules run
    of this one.
    """
    program = ModulesRun(texts, analysis.names.project)
    machine = AbstractInterpreter(analysis, scopes, regions, program)
    program.machines[analysis.names.module] = machine
    entry = machine.calls.call_contexts
    machine.block(analysis.module.body)
    program.note_reached()
    restore_attributes(machine, visit, program.dotted)
    reached = {start: frozenset(often) for start, often in visit.reached}
    machine.roots.run(reached, restored_arguments(visit, program.dotted), frozenset(visit.guessed))
    for run in list(program.machines.values()):
        run.roots.run_skipped()
    finish(run.recorder for run in program.machines.values())
    visits = program.visits()
    adopt(visit, machine.recorder, analysis.module)
    return Outcome(
        machine.recorder,
        entry.per_step.union(visit.per_step),
        frozenset(machine.unfollowed),
        visits,
        program.trains,
    )
