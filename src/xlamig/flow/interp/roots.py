"""Roots: functions that no call reaches run with what their parameters say, in the end."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType

from xlamig import ir
from xlamig.facts import Why
from xlamig.findings import Frequency
from xlamig.flow.interp.call_contexts import CallContexts, Ran, Result
from xlamig.flow.interp.distributions import makes_distribution
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark, inside
from xlamig.flow.interp.events import FREQUENCIES
from xlamig.flow.interp.frames import ClassInfo, Frame, Function, object_of
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.skipped import with_any_constant
from xlamig.flow.interp.state import State
from xlamig.flow.model.by_kind import calls_in
from xlamig.flow.model.host_inputs import host_parameters
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.step_methods import performs_update
from xlamig.knowledge import values as table

_OF_LIGHTNING = re.compile(r"^(?:pytorch_)?lightning\.(?:.*\.)?(?:Callback|LightningModule)$")
_OF_SAMPLES = re.compile(r"^__(?!call)|init")  # what workers run that makes no batches


@dataclass(eq=False, slots=True)
class Roots:
    """Runs of functions without a call: roots, constructors, and what constants leave out."""

    m: State
    contexts: CallContexts
    moves: Moves
    _hosts: dict[int, frozenset[str]] = field(default_factory=dict)  # by the identity of a class's definition

    def construct(self, info: ClassInfo) -> None:
        """Run a constructor that has not run: it assigns attributes."""
        node = info.methods["__init__"]
        if id(node) not in self.contexts.ran:
            self._root(node, info.frame, info)

    def run(
        self,
        reached: Mapping[int, frozenset[str]],
        given: Mapping[int, Mapping[str, AbstractValue]],
        guessed: Container[int],
    ) -> None:
        """Runs what no caller reached, and every step what is known to run every step; `reached` is what
        other modules run, with how often, `given` what they give it, `guessed` what they call with arguments
        that say nothing."""
        ran = 0
        while ran < len(self.contexts.definitions):  # running one may define others
            waiting = list(self.contexts.definitions.values())[ran:]
            ran = len(self.contexts.definitions)
            called = {name for node, *_ in waiting for name in self._called(node) if name != node.name}
            order = sorted(waiting, key=lambda found: (found[0].name != "__init__", found[0].name in called))
            for node, frame, owner in order:
                often = reached.get(node.start, frozenset())
                unsure = node.start in guessed and "step" not in often
                if not often or unsure or self._runs_again(node, frame, owner, often):
                    self._root(node, frame, owner, given.get(node.start, {}))

    def _called(self, function: ir.FunctionDef) -> Iterator[str]:
        """Yield the names of the functions and methods that a function calls."""
        calls = calls_in(self.m.analysis.module, function)
        return (path_of(call.func).rpartition(".")[2] for call in calls)

    def run_skipped(self) -> None:
        """Run the functions again of which all calls left out a branch, for a call with other constants."""
        for node, frame, owner in list(self.contexts.definitions.values()):
            ran = self.contexts.ran.get(id(node))
            if ran is not None and ran.given and self.m.skipped.by(id(node)):
                self.moves.forget()
                given = {name: with_any_constant(thing) for name, thing in ran.given.items()}
                often = next(often for often in reversed(FREQUENCIES) if often in ran.frequencies)
                self._run_apart(self.m.function(node, frame, owner), given, often)

    def _run_apart(self, function: Function, given: dict[str, AbstractValue], often: Frequency) -> Result:
        """Run a function as if nothing called it."""
        m = self.m
        before = m.frequency, m.frame, m.loops
        m.frequency, m.loops = often, []
        result = self.contexts.run(function, given)
        m.frequency, m.frame, m.loops = before
        return result

    def _from_host(self, owner: ClassInfo | None, given: Set[str]) -> Set[str]:
        """Return the arguments that a method of a class is given on the CPU."""
        if owner is None:
            return frozenset()
        if self._makes_samples(owner):
            return given
        if id(owner.node) not in self._hosts:
            self._hosts[id(owner.node)] = host_parameters(owner.methods.values())
        return self._hosts[id(owner.node)].intersection(given)

    def _makes_samples(self, owner: ClassInfo | None) -> bool:
        """Return whether the methods of a class make samples, which a loader makes batches of later."""
        regions = self.m.regions
        return owner is not None and (regions.is_for_samples(owner.scope) or regions.is_dataset(owner.scope))

    def _runs_again(
        self, node: ir.FunctionDef, frame: Frame, owner: ClassInfo | None, often: Set[str]
    ) -> bool:
        """Return whether a function runs every step, though its calls run it less often."""
        if "step" in often:
            return False
        return "per-step" in self.m.regions.of_function(node, owner.scope if owner else frame.scope)

    def _root(
        self,
        node: ir.FunctionDef,
        frame: Frame,
        owner: ClassInfo | None,
        visited: Mapping[str, AbstractValue] = MappingProxyType({}),
    ) -> None:
        m = self.m
        words = m.regions.of_function(node, owner.scope if owner else frame.scope)
        known = self.contexts.ran.get(id(node))
        once = known is not None and not known.frequencies <= {"unknown"}
        repeats = makes_distribution(node, owner) or performs_update(node, m.analysis.text)
        per_step = "per-step" in words or (not once and repeats)
        if known is not None and (not per_step or "step" in known.frequencies):
            return
        function = m.function(node, frame, owner)
        m.collating = "worker" in words and not _OF_SAMPLES.search(node.name)
        given = {name: _elsewhere(thing) for name, thing in (known.given if known else visited).items()}
        if known is None or not known.given:
            for p in node.params:
                given.setdefault(p.name, self.contexts.parameters.guessed(p, function, per_step=per_step))
        hosts = self._from_host(owner, given.keys())
        given |= {name: _of_host(given[name]) for name in hosts}
        if m.collating:
            given = self.contexts.parameters.of_collate(given, function)
        if known is None and owner is not None and node.params and function.kind != "static":
            own = object_of(owner, "host" if hosts or node.name == "__init__" else "device")
            given[node.params[0].name] = (
                AbstractValue("class", ref=owner) if function.kind == "class" else own
            )
        on_host = m.collating or self._makes_samples(owner)
        m.batches += on_host
        caller = m.regions.caller(node, owner.scope if owner else frame.scope)
        if caller and caller != m.names.module:
            name = caller.rpartition(".")[2]
            m.caller = (Why(f"`{node.name}` is called every step in {name}.py", (node.start, node.start)),)
        ran = self.contexts.ran.setdefault(id(node), Ran(node.start))
        m.callers_known = owner is None or not owner.may_be_module
        often: Frequency = "step" if per_step else "unknown"
        m.settled = owner is not None and _runs_settled(node.name, owner)
        ran.results[("root", per_step)] = self._run_apart(function, given, often)
        m.settled = False
        m.callers_known = True
        ran.frequencies.add(often)
        m.batches -= on_host
        m.collating = False
        m.caller = ()


def _runs_settled(name: str, owner: ClassInfo) -> bool:
    """Return whether Lightning calls a method after it has ended the step."""
    hooks = any(_OF_LIGHTNING.search(base) for cls in owner.lineage() for base in cls.outside)
    return hooks and table.name_like("settled-hook").search(name) is not None


def _of_host(thing: AbstractValue) -> AbstractValue:
    """Return an argument as a dataset gives it: its tensors are on the CPU."""
    held = inside(thing)
    if held.kind != "tensor":
        return thing
    held = held.replace(place="host")
    return held if thing.kind == "tensor" else thing.replace(element=held)


def _elsewhere(thing: AbstractValue) -> AbstractValue:
    """Return the result of a forward pass that is first tried with tensors of the host."""
    if thing.place != "host" or thing.trait is Mark.AWAITS_MOVE:
        return thing
    if thing.kind == "module":
        return thing.replace(place="device", sure=LIKELY)
    return thing.replace(place="either", sure=min(thing.sure, LIKELY)) if thing.kind == "tensor" else thing
