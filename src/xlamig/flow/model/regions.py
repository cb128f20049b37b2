"""Regions of a program: what runs every step, and what in the workers of a loader.

Names and syntax decide. A function that a region calls is part of it if it is the module's
own, or if the project says that another module's steps call it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from xlamig import ir
from xlamig.facts import ContextTags
from xlamig.flow.model.callers import NO_CALLERS, Callers
from xlamig.flow.model.exports import Export
from xlamig.flow.model.kinds import (
    is_distribution_class,
    is_module_class,
    is_of_other_library,
    is_optimizer_or_scaler_name,
    is_trainer_class,
    made_by,
)
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.flow.model.step_events import run_by_events
from xlamig.flow.model.step_methods import makes_loader, runs_each_step
from xlamig.flow.model.worker_arguments import IN_WORKERS, called_function, given_to_workers
from xlamig.knowledge import values as table

FORWARD: ContextTags = frozenset({"forward", "per-step"})
TRAINING: ContextTags = frozenset({"training-loop", "per-step"})
CALLED: ContextTags = frozenset({"per-step"})
WORKER: ContextTags = frozenset({"worker"})
NO_CONTEXT: ContextTags = frozenset()

_NO_MODULE = frozenset({"object", "ABC", "Generic", "Protocol", "NamedTuple", "Enum", "Exception", "type"})
_FUNCTION = re.compile(r"(?:^|autograd\.)Function$")
_DATASET = re.compile(r"Data(?:set|Pipe)$")
_OF_DATA = re.compile(r"Data_?(?:[Ss]et|[Pp]ipe|[Ll]oader|[Mm]odule)$")
_ITERABLE = re.compile(r"Iter(?:able)?Data(?:set|Pipe)$")
_EVERY_STEP = re.compile(
    r"^(?:_*forward(?:_\w+)?|__call__|_?(?:training|train|validation|val|eval|test|predict|prediction|shared)_step"
    r"|_?(?:compute_|get_|calc_|calculate_)?loss(?:es|_fn)?|on_(?:train|validation|test|predict)_batch_(?:start|end))$"
)
_OF_TRAINERS = re.compile(r"_step$|loss")
_OF_FUNCTIONS = frozenset({"forward", "backward", "jvp", "setup_context"})
_OF_DATASETS = frozenset({"__getitem__", "__getitems__"})
_OF_ITERABLES = frozenset({"__iter__", "__next__"})
_GRAPHS = re.compile(r"^torch_geometric\..*Dataset$")
_COLLATOR = re.compile(r"Collat(?:or|e)")

_MAY_TRAIN = re.compile(r"\.\s*(?:backward|step|zero_grad|optimizer_step)\b")
_MAX_CLASSES = 20  # looked at for one class


class Regions:
    """The regions of one module, found when they are asked for."""

    def __init__(self, analysis: Analysis, callers: Callers = NO_CALLERS) -> None:
        self.analysis = analysis
        self.callers = callers
        self._classes: dict[Scope, dict[str, ContextTags]] = {}

    def of_function(self, node: ir.FunctionDef, owner: Scope) -> ContextTags:
        """Return the context of the body of a function that `owner` holds."""
        words = WORKER if node.name in self._workers else NO_CONTEXT
        if _name_in_module(node, owner) in self.callers.workers:
            words |= WORKER
        if self.caller(node, owner) or node.name in self._run_by_events:
            words |= CALLED
        if owner.kind == "class":
            if owner not in self._classes:
                self._classes[owner] = self._methods(owner)
            words |= self._classes[owner].get(node.name, NO_CONTEXT)
        if not self.is_for_samples(owner):
            return words
        return NO_CONTEXT if node.name == "__init__" else WORKER

    def is_for_samples(self, scope: Scope) -> bool:
        """Return whether only datasets make objects of a class, or of that of a method."""
        owner = scope.class_scope if self.callers.samples else None
        return owner is not None and owner.name in self.callers.samples

    def serves_data(self, owner: Scope) -> bool:
        """Return whether a class makes or loads the samples of a data set."""
        if not isinstance(owner.node, ir.ClassDef) or owner.parent is None:
            return False
        return any(map(_OF_DATA.search, self._names_of(owner.node, owner.parent)))

    def is_dataset(self, owner: Scope) -> bool:
        """Return whether a class is a data set, by its name or that of a class above."""
        if not isinstance(owner.node, ir.ClassDef) or owner.parent is None:
            return False
        return any(map(_DATASET.search, self._names_of(owner.node, owner.parent)))

    def caller(self, node: ir.FunctionDef, owner: Scope) -> str:
        """The module whose steps call a function, "" if none is known."""
        return self.callers.steps.get(_name_in_module(node, owner), "")

    @property
    def called_elsewhere(self) -> frozenset[str]:
        """The functions of the module that others call."""
        own = self.analysis.names.module
        steps = (name for name, caller in self.callers.steps.items() if caller != own)
        return self.callers.elsewhere.union(steps)

    def is_module(self, node: ir.ClassDef, scope: Scope) -> bool:
        """Return whether a class is a module or another thing with a forward pass of its own."""
        bases = self._bases(node, scope)
        if any(map(is_of_other_library, bases)):
            return False
        return any(map(is_module_class, bases)) or any(
            isinstance(s, ir.FunctionDef) and s.name == "forward" for s in node.body
        )

    @staticmethod
    def makes_module(export: Export) -> bool:
        """Return whether a class of another module is a module, as far as its bases there say so."""
        bases = export.value.split()
        return any(map(is_module_class, bases)) or (
            "forward" in export.members and bool(set(bases) - _NO_MODULE)
        )

    def of_loop(self, body: ir.Block, scope: Scope) -> ContextTags:
        """TRAINING if each iteration of the loop, loops in it aside, is a step of training."""
        if not self._may_train(body[0].start, body[-1].end):
            return NO_CONTEXT
        calls = list(_own_calls(body))
        if any(self._trains(call, scope) for call in calls):
            return TRAINING
        loops = [s for s in ir.own_statements(body) if isinstance(s, ir.For | ir.While)]
        if any(self._may_train(loop.start, loop.end) for loop in loops):
            return NO_CONTEXT
        return TRAINING if any(_method(call) == "zero_grad" for call in calls) else NO_CONTEXT

    # ------------------------------------------------------------------ loops

    def _may_train(self, start: int, end: int) -> bool:
        return _MAY_TRAIN.search(self.analysis.text, start, end) is not None

    def _trains(self, call: ir.Call, scope: Scope) -> bool:
        """`loss.backward()`, `optimizer.step()`, `scaler.step(optimizer)`"""
        method = _method(call)
        if method == "step":
            assert isinstance(call.func, ir.Attribute)
            return self._is_optimizer(call.func.value, scope) or any(
                self._is_optimizer(arg.value, scope) for arg in call.args
            )
        return method in ("backward", "optimizer_step")

    def _is_optimizer(self, node: ir.Expr, scope: Scope) -> bool:
        while isinstance(node, ir.Subscript | ir.Call):
            node = node.value if isinstance(node, ir.Subscript) else node.func
        path = path_of(node)
        if not path:
            return False
        if is_optimizer_or_scaler_name(path.rpartition(".")[2]):
            return True
        made = (b.value.func for b in scope.find(path) if isinstance(b.value, ir.Call))
        dotted = (self.analysis.names.dotted(func, scope) or "" for func in made)
        return any(made_by(d) == "optimizer" for d in dotted)

    # ------------------------------------------------------------------ classes

    def _methods(self, owner: Scope) -> dict[str, ContextTags]:
        """The words of a class's methods, also of those that such a method names as its own."""
        if not isinstance(owner.node, ir.ClassDef) or owner.parent is None:
            return {}
        methods = {s.name: s for s in owner.node.body if isinstance(s, ir.FunctionDef)}
        bases = self._bases(owner.node, owner.parent) if methods else frozenset()
        found = {name: words for name in methods if (words := _role(name, owner.node.name, bases, methods))}
        counting = [node for name, node in methods.items() if name == "step" and runs_each_step(node)]
        if "__call__" in methods and owner.node.name in self._workers:
            found["__call__"] = WORKER
        waiting = list(found)
        found.update((node.name, found.get(node.name, NO_CONTEXT) | CALLED) for node in counting)
        while waiting:
            name = waiting.pop()
            for called in self._own_methods(methods[name], methods):
                words = found.get(called, NO_CONTEXT) | found[name]
                if words != found.get(called):
                    found[called] = words
                    waiting.append(called)
        return found

    def _own_methods(self, node: ir.FunctionDef, methods: dict[str, ir.FunctionDef]) -> set[str]:
        """The methods that a method calls or hands on through `self`."""
        own = node.params[0].name if node.params else ""
        names = re.compile(rf"\b{re.escape(own)}\s*\.\s*(\w+)").findall(
            self.analysis.text, node.start, node.end
        )
        if not own or methods.keys().isdisjoint(names):
            return set()
        return {
            inner.attr
            for statement in node.body
            for inner in ir.walk(statement)
            if isinstance(inner, ir.Attribute)
            and inner.attr in methods
            and isinstance(inner.value, ir.Name)
            and inner.value.id == own
        }

    def _names_of(self, node: ir.ClassDef, scope: Scope) -> tuple[str, ...]:
        return (*self._bases(node, scope), node.name)

    def _bases(self, node: ir.ClassDef, scope: Scope) -> frozenset[str]:
        """The names of all classes above, as far as they can be seen from here."""
        names: set[str] = set()
        seen = {id(node)}
        waiting = [(node, scope)]
        while waiting and len(seen) < _MAX_CLASSES:
            current, around = waiting.pop()
            for arg in current.args:
                base = arg.value.value if isinstance(arg.value, ir.Subscript) else arg.value
                if arg.keyword or not (path := path_of(base)):
                    continue
                names.add(self.analysis.names.dotted(base, around) or path)
                export = self.analysis.names.export(base, around)
                if export is not None and export.kind == "class":
                    names.update(export.value.split())
                for binding in around.lookup(path):
                    if isinstance(binding.node, ir.ClassDef) and id(binding.node) not in seen:
                        seen.add(id(binding.node))
                        waiting.append((binding.node, binding.scope))
        return frozenset(names)

    @cached_property
    def _run_by_events(self) -> frozenset[str]:
        return run_by_events(self.analysis.module, self.analysis.text)

    # ------------------------------------------------------------------ workers

    @cached_property
    def given_to_workers(self) -> tuple[ir.Expr, ...]:
        """The functions and classes that are given to a loader for its workers."""
        if not any(word in self.analysis.text for word in IN_WORKERS):
            return ()
        nodes = ir.walk(self.analysis.module)
        return tuple(called_function(given) for node in nodes for given in given_to_workers(node))

    @cached_property
    def _workers(self) -> frozenset[str]:
        return IN_WORKERS | {path_of(given).rpartition(".")[2] for given in self.given_to_workers}


def _role(name: str, owner: str, bases: frozenset[str], methods: dict[str, ir.FunctionDef]) -> ContextTags:
    """The words that a method has by its name, in a class with these bases."""
    if _COLLATOR.search(owner) and name == "__call__":
        return WORKER
    if name.startswith("collat") and any(_DATASET.search(n) for n in (*bases, owner)):
        return WORKER
    if name in _OF_DATASETS or name in _OF_ITERABLES:
        names = (*bases, owner)
        iterable = any(_ITERABLE.search(n) for n in names)
        loaded = any(_DATASET.search(n) for n in names)
        served = _OF_ITERABLES if iterable or "__getitem__" not in methods else _OF_DATASETS
        return WORKER if loaded and (name in served or name in _OF_DATASETS) else NO_CONTEXT
    if name in ("get", "process") and any(map(_GRAPHS.search, bases)):
        return WORKER
    if not bases or any(map(is_of_other_library, bases)):
        return NO_CONTEXT
    if any(_FUNCTION.search(base) for base in bases):
        return FORWARD | {"no-grad"} if name in _OF_FUNCTIONS else NO_CONTEXT  # differentiates itself
    if name == "forward":  # a base from elsewhere: what has this method is a module
        return FORWARD if bases - _NO_MODULE else NO_CONTEXT
    if name in table.names("distributions", "per-step") and any(map(is_distribution_class, bases)):
        return FORWARD
    if name == "step" and any(base.endswith("Optimizer") for base in bases):
        return FORWARD
    if table.method_of("cache", name) == "grows" and any(table.object_of(base) for base in bases):
        return FORWARD
    if any(table.is_step_hook(base, name) for base in bases):
        return CALLED
    if not _EVERY_STEP.search(name) or makes_loader(methods.get(name)):
        return NO_CONTEXT
    trains = any(map(is_trainer_class, bases)) and _OF_TRAINERS.search(name)
    return FORWARD if trains or any(map(is_module_class, bases)) else NO_CONTEXT


def _name_in_module(node: ir.FunctionDef, owner: Scope) -> str:
    """Return "f" or "C.m" for a function or method of a module; "" for one further inside."""
    if owner.kind == "class" and owner.parent is not None and owner.parent.kind == "module":
        return f"{owner.name}.{node.name}"
    return node.name if owner.kind == "module" else ""


def _method(call: ir.Call) -> str:
    return call.func.attr if isinstance(call.func, ir.Attribute) else ""


def _own_calls(body: ir.Block) -> Iterator[ir.Call]:
    for statement in ir.own_statements(body):
        if isinstance(statement, ir.For | ir.While | ir.FunctionDef | ir.ClassDef):
            continue
        for child in ir.children(statement):
            if isinstance(child, ir.Expr | ir.WithItem):
                yield from (node for node in ir.walk(child) if isinstance(node, ir.Call))
