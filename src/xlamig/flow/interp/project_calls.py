"""Calls of functions, methods and classes that other modules of the project define.

Where the function is at hand it is run (see program). Else the caller learns from its summary what the call
does and returns.
"""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import NONE, POSSIBLE, TOP, AbstractValue, Mark, inside
from xlamig.flow.interp.frames import Function
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.portable import moved, restored
from xlamig.flow.interp.reads import Reads, sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, effects_of
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.summaries import FunctionSummary

_UPDATES = frozenset({Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP, Effect.BACKWARD})
_READS = frozenset({Effect.READ, Effect.RESULT_READ, Effect.STEP_READ})
_ON_DEVICE = _READS | {Effect.WORK, Effect.MODEL_CALL}
"""The effects of a function only if its arguments are on the device."""


class ProjectCalls:
    def __init__(self, state: State, reads: Reads, opaque: OpaqueCalls, libraries: Libraries) -> None:
        self.m = state
        self.reads, self.opaque, self.libraries = reads, opaque, libraries

    # ------------------------------------------------------------------ what the caller learns

    def call(self, dotted: str, args: Args, node: ir.Call) -> AbstractValue:
        """The result of calling a function or class of another module."""
        names = self.m.names
        export = names.project.resolve(dotted, names.module)
        if export is not None and export.kind == "class":
            made = self.libraries.made(dotted, args, node)
            if made is not None:
                return made
            if self.m.regions.makes_module(export):
                return self.m.semantics.make_module(dotted, args, node)
            return AbstractValue("unknown", ref=dotted, sure=POSSIBLE, trait=Mark.INSTANCE)
        return self._summarized(dotted, args, node)

    def call_summarized(self, function: Function, args: Args, node: ir.Call) -> AbstractValue:
        """The result of calling a function that another module defines, without running it."""
        owner = f"{function.owner.node.name}." if function.owner is not None else ""
        name = getattr(function.node, "name", "")
        return self._summarized(f"{function.frame.home}.{owner}{name}", args, node)

    def _summarized(self, dotted: str, args: Args, node: ir.Call) -> AbstractValue:
        names = self.m.names
        found = names.project.summary(dotted, names.module)
        if found is None:
            return self.m.semantics.call_unknown(node, args)
        return self._apply(*found, args, node)

    def method(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """The result of a method of an object whose class another module defines; None if nothing is known
        of it. `owner.ref` is the class's dotted name."""
        dotted = f"{owner.ref}.{name}"
        names = self.m.names
        found = names.project.summary(dotted, names.module)
        return self._apply(*found, args, node) if found is not None else None

    def is_constructor(self, dotted: str, name: str) -> bool:
        """Return whether a method of another module's class creates one: `Net.from_pretrained(path)`."""
        names = self.m.names
        export = names.project.resolve(dotted, names.module) if name.startswith("from_") else None
        if export is None or export.kind != "class" or name not in export.members:
            return False
        return self.m.regions.makes_module(export)

    def happens(self, dotted: str, effect: Effect) -> bool:
        """Return whether a function of another module does something, by its summary."""
        found = self.m.names.project.summary(dotted, self.m.names.module)
        return found is not None and effects_of(found[0].effects).happens(effect)

    def _apply(self, summary: FunctionSummary, module: str, args: Args, node: ir.Call) -> AbstractValue:
        """Apply the callee's summary to the call and return its result."""
        computed = self.opaque.computed(node, args)
        number = self._read(summary, module, args, node)
        self._happens(summary, computed, node)
        known = restored(summary.result) if summary.result is not None else TOP
        if known.kind in ("number", "bool"):
            return number or TOP
        if known.kind == "unknown":
            return computed if summary.reads else self.m.semantics.call_unknown(node, args)
        if known.kind in ("sequence", "mapping") and not computed.place:
            return computed
        return moved(known, computed.place)

    def _read(self, summary: FunctionSummary, module: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Reports the tensors that the callee reads; returns the number that it makes of the last one."""
        number: AbstractValue | None = None
        name = path_of(node.func)
        for reading in summary.reads:
            chosen = self._argument(summary, reading.default, args) if reading.default else ()
            given = next((thing for thing, _ in chosen), NONE)
            if given.kind not in ("none", "unknown"):
                continue  # the callee reads only where it is left out
            for thing, part in self._argument(summary, reading.parameter, args):
                held = inside(thing)
                if held.kind == "tensor" and (reading.whole or not (held.loose or held is not thing)):
                    there = f"`{reading.operation}` in {module.rpartition('.')[2]}.py, line {reading.row}"
                    told = held.with_reason(f"`{name}` reads it: {there}", (node.start, node.end))
                    if given.kind == "unknown":
                        told = told.replace(sure=POSSIBLE)
                    self.reads.host(part or node, told, reading.via, name, part)
                    number = AbstractValue("number", sure=held.sure, cause="read" if sureness(held) else "")
        return number

    def _happens(self, summary: FunctionSummary, computed: AbstractValue, node: ir.Call) -> None:
        """Effects of the callee; those on arguments count only where these are on the device."""
        effects = effects_of(summary.effects)
        if effects.must.isdisjoint(_UPDATES):
            on_host = computed.place == "host"
            effects = effects.without(_ON_DEVICE if on_host else _READS)
        if Effect.OPTIMIZER_STEP in effects.must:
            self.m.updated(node)
        if effects.happens(Effect.WORK):
            self.m.work("device" if Effect.WORK in effects.must else "either")
        self.m.effects.update(effects)
        if Effect.SYNC in effects.must:
            self.m.synced = True
        if Effect.SETTLED in effects.must:
            self.m.wait()

    @staticmethod
    def _argument(
        summary: FunctionSummary, parameter: str, args: Args
    ) -> Iterator[tuple[AbstractValue, ir.Expr | None]]:
        """Yield the values passed to a parameter, with their places; `**kwargs` gets those that no other
        takes."""
        names = summary.parameters
        if parameter in names:
            thing = args.get(names.index(parameter), parameter)
            if thing is not None:
                yield thing, args.node(names.index(parameter), parameter)
            return
        for keyword, thing in args.keywords.items():
            if keyword not in names:
                yield thing, args.node(-1, keyword)
