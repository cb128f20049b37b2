"""The modules that one analysis runs: the one it is of, and those whose functions that one calls.

A call of another module's function is run there, with the caller's values: what it returns, does and
assigns comes back as from a function of the caller's own module. What is found out on the way about the
other module is handed to that module's own analysis (see visits).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.crossing import named
from xlamig.flow.interp.domain import MAX_ALTERNATIVES, TOP, AbstractValue, Mark, join_all
from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.interp.given_arguments import given_arguments
from xlamig.flow.interp.instance_attributes import held_attributes
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.visited import visited
from xlamig.flow.interp.visits import Given, Visit, sent, sent_proofs
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.device_names import names_device
from xlamig.flow.model.effects import Effects
from xlamig.flow.model.evidence import Evidence
from xlamig.flow.model.names import Names
from xlamig.flow.model.project import ProjectIndex
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.registries import CONFIGURED
from xlamig.flow.model.rows import row_of
from xlamig.flow.model.scopes import Scope, ScopeTable
from xlamig.flow.model.scripts import is_script
from xlamig.flow.model.site import Analysis
from xlamig.flow.model.values import Values

_KEPT = 96  # modules that stay in memory from one analysis to the next


class _Read(NamedTuple):
    """A module that stays in memory from one analysis to the next; see `Evidences.kept`."""

    tree: ir.Module
    scopes: ScopeTable
    evidence: dict[int, Evidence]


class ModulesRun:
    """The `Program` that runs other modules; the first of `machines` is that of the module it is for."""

    def __init__(self, texts: Mapping[str, ModuleText], index: ProjectIndex) -> None:
        self.texts = texts
        self.index = index
        self.machines: dict[str, AbstractInterpreter] = {}
        self.running: list[int] = []  # functions, by the identity of their definitions
        self.keys: list[tuple[int, object]] = []  # of the calls that run
        self.classes: dict[str, list[ClassInfo]] = {}  # by the last words of their names
        self.open_steps: dict[int, tuple[Recorder, Event]] = {}  # see Program of semantics
        self.reached: dict[str, dict[int, frozenset[str]]] = {}  # by module, see Visit
        self.given: dict[str, tuple[Given, ...]] = {}  # the same
        self.guessed: dict[str, set[int]] = {}  # the same
        self._statements: dict[str, frozenset[int]] = {}  # by module, their identities
        self._registries: dict[tuple[str, str], bool] = {}  # see `_holds_anything`

    @property
    def main(self) -> AbstractInterpreter:
        """Return what runs the module that the analysis is of."""
        return next(iter(self.machines.values()))

    # ------------------------------------------------------------------ definitions

    def defined(self, dotted: str, origin: str) -> AbstractValue | None:
        """Return the function or class of another module that module `origin` calls `dotted`."""
        place = self.index.locate(dotted, origin)
        if place is None:
            return None
        module, path = place
        return self.value(module, path.removesuffix(".__init__"))

    def value(self, module: str, name: str) -> AbstractValue | None:
        """Return a function or class of a module."""
        machine = self._machine(module)
        value = machine.top.env.get(name) if machine is not None else None
        return value if value is not None and value.kind in ("function", "class") else None

    def registry(self, module: str, name: str) -> AbstractValue | None:
        """Return a registry as a mapping of what the project's files put into it; None where nothing does."""
        held = self.index.registries.held(module, name)
        if not held:
            return None
        mapping = AbstractValue("mapping", trait=Mark.REGISTRY)
        if self._holds_anything(module, name):
            return mapping.replace(element=TOP)
        found = [(one.key, self.value(one.module, one.name)) for one in held]
        fields = {key: value for key, value in found if value is not None}
        if not fields:
            return None
        if len(fields) == len(found) and "" not in fields:
            return mapping.replace(fields=fields)
        return mapping.replace(element=join_all(value for _, value in found if value is not None))

    def configured(self, module: str, part: str) -> AbstractValue | None:
        """Return what configurations name for a part of them that a module makes an object of; None where
        they name nothing."""
        held = [one for one in self.index.registries.held(module, CONFIGURED) if one.key == part]
        found = [self.value(one.module, one.name) for one in held]
        return join_all(value or TOP for value in found) if found else None

    def _holds_anything(self, module: str, name: str) -> bool:
        """Return whether a registry holds more definitions than a value keeps, some of them out of reach; no
        module runs for the answer."""
        known = self._registries.get((module, name))
        if known is None:
            held = {(one.module, one.name) for one in self.index.registries.held(module, name)}
            within = {one for one in held if one[0] in self.texts or one[0] in self.machines}
            defined = sum(self.index.defines(*one) for one in within)
            known = len(within) < len(held) and defined > MAX_ALTERNATIVES
            self._registries[module, name] = known
        return known

    def dotted(self, name: str) -> AbstractValue | None:
        """Return the function or class with this full name."""
        module, _, last = name.rpartition(".")
        return self.value(module, last)

    def _machine(self, module: str) -> AbstractInterpreter | None:
        """Return what runs a module; its own statements are run first."""
        known = self.machines.get(module)
        source = self.texts.get(module)
        if known is not None or source is None:
            return known
        tree, scopes, evidence = _read(source, module)
        names = Names(self.main.names.interest, self.index, module)
        values = Values(names, source.text)
        values.switches.update(source.switches)
        analysis = Analysis(tree, source.text, names, values, True, source.filename)
        machine = self.machines[module] = AbstractInterpreter(analysis, scopes, Regions(analysis), self)
        machine.evidences.kept = evidence
        machine.moves.share(self.main.moves)
        machine.frequency = "unknown"  # an import passes constants around: see `tells`
        machine.block(statement for statement in tree.body if not _of_script(statement, source.text))
        machine.frequency = "once"
        machine.recorder = Recorder()  # the module's own analysis says that
        return machine

    def scope(self, module: str, node: ir.FunctionDef) -> Scope:
        """Return the scope of a function of a module."""
        return self.machines[module].scopes.of(node)

    def home(self, module: str) -> AbstractInterpreter:
        """Return what runs a module."""
        return self.machines[module]

    def home_of(self, statement: ir.Stmt) -> AbstractInterpreter | None:
        """Return what runs the module of a statement; None for a module that nothing runs."""
        for module, machine in self.machines.items():
            if module not in self._statements:
                nodes = ir.walk(machine.analysis.module) if len(self.machines) > 1 else ()
                self._statements[module] = frozenset(id(n) for n in nodes if isinstance(n, ir.Stmt))
            if id(statement) in self._statements[module]:
                return machine
        return None

    def others(self, module: str) -> Iterable[ir.Module]:
        """Return the other modules that run so far."""
        return (run.analysis.module for name, run in self.machines.items() if name != module)

    # ------------------------------------------------------------------ calls

    def run(
        self, origin: str, function: Function, args: Args, node: ir.Call | None
    ) -> tuple[AbstractValue, Effects]:
        """Run a function of another module, called by `origin`; return its result and its effects."""
        caller, home = self.machines[origin], self.machines[function.frame.home]
        if function.owner is not None and getattr(function.node, "name", "") != "__init__":
            self._construct(function.owner)
        given = Args(
            [named(value, caller.filename) for value in args.positional],
            {name: named(value, caller.filename) for name, value in args.keywords.items()},
            starred=args.starred,
            rest=named(args.rest, caller.filename) if args.rest is not None else None,
        )
        if function.bound is not None:
            function = replace(function, bound=named(function.bound, caller.filename))
        with visited(home, caller), home.branch() as effects:
            home.caller = _caller(caller, function, node)
            result = home.calls.call_contexts.call(function, given, None)
        args.filled = {name: named(value, home.filename) for name, value in given.filled.items()}
        caller.unfollowed |= home.unfollowed
        return named(result, home.filename), effects

    def _construct(self, info: ClassInfo) -> None:
        """Run the constructor of a class that nothing has made an object of: it assigns attributes."""
        for cls in info.lineage():
            if "__init__" in cls.methods:
                self.machines[cls.frame.home].roots.construct(cls)
                return

    # ------------------------------------------------------------------ what is handed on

    def note_reached(self) -> None:
        """Remember what runs so far: it is what the module's own statements run."""
        for module, machine in self.machines.items():
            self.reached[module] = machine.calls.call_contexts.reached()
            self.given[module] = tuple(given_arguments(machine)) if machine is not self.main else ()

    def note_guessed(self, function: Function) -> None:
        """Remember a function of another module that is called with arguments that say nothing; what sets up
        an object depends on the program around it."""
        if getattr(function.node, "name", "") != "__init__":
            self.guessed.setdefault(function.frame.home, set()).add(function.node.start)

    def visits(self) -> dict[str, Visit]:
        """Return what this analysis found out about each module."""
        found: dict[str, Visit] = {}
        for module, machine in self.machines.items():
            reached = self.reached.get(module, {}) if machine is not self.main else {}
            found[module] = Visit(
                sent(machine.recorder),
                sent_proofs(machine.recorder),
                tuple(sorted(machine.calls.call_contexts.per_step)),
                tuple((start, tuple(sorted(often))) for start, often in sorted(reached.items())),
                tuple(held_attributes(machine)),
                tuple(sorted(machine.recorder.device_methods)),
                bool(reached) and self._is_deviceless,
                self.given.get(module, ()),
                tuple(sorted(self.guessed.get(module, ()))),
            )
        return found

    @cached_property
    def _is_deviceless(self) -> bool:
        """Return whether the module that this is for is a script that trains, and no module in its reach
        chooses a device."""
        names, tree = self.main.names, self.main.analysis.module
        helper = names.interest.helper
        chosen = self.index.chooses_device(names.module, helper) or names_device(tree, helper)
        return not chosen and self.trains and (is_script(tree) or self._trains_on_import())

    def _trains_on_import(self) -> bool:
        """Return whether the module's own statements, under no guard, run a function that trains."""
        return any(
            node.start in self.reached.get(module, ()) and _calls_backward(node, run.analysis.text)
            for module, run in self.machines.items()
            for node in of_kind(run.analysis.module, ir.FunctionDef)
        )

    @cached_property
    def trains(self) -> bool:
        """Return whether a module that ran calls `backward()`."""
        main = self.main
        others = (module for module, run in self.machines.items() if run is not main)
        return _calls_backward(main.analysis.module, main.analysis.text) or any(
            _trains(self.texts[module], module) for module in others
        )


@lru_cache(maxsize=_KEPT)
def _trains(source: ModuleText, module: str) -> bool:
    return _calls_backward(_read(source, module).tree, source.text)


def _calls_backward(tree: ir.Module | ir.FunctionDef, text: str) -> bool:
    if ".backward" not in text[tree.start : tree.end]:
        return False
    return any(isinstance(node, ir.Attribute) and node.attr == "backward" for node in ir.walk(tree))


@lru_cache(maxsize=_KEPT)
def _read(source: ModuleText, module: str) -> _Read:
    tree: ir.Module = pickle.loads(source.tree)
    return _Read(tree, ScopeTable(tree, source.text, module, source.is_package), {})


def _of_script(statement: ir.Stmt, text: str) -> bool:
    """Return whether a statement runs only where its module is the script, not on import."""
    if not isinstance(statement, ir.If):
        return False
    return "__name__" in text[statement.test.start : statement.test.end]


def _caller(caller: AbstractInterpreter, function: Function, node: ir.Call | None) -> tuple[Why, ...]:
    """The reason that a call from another module is, for what happens in the function."""
    if node is None or not isinstance(function.node, ir.FunctionDef):
        return tuple(why if why.filename else why.of(caller.filename) for why in caller.caller)
    row = row_of(caller.analysis.text, node.start)
    where = f"{caller.names.module.rpartition('.')[2]}.py, line {row}"
    return (Why(f"`{function.node.name}` is called in {where}"),)
