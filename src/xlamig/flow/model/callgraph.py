"""Which functions of a module call which, and what its steps call: read from its own statements."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Set

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.callers import (
    AT_TIMES,
    BODY,
    BUILT,
    DATASETS,
    FIRST_RANK,
    HELD,
    OWN,
    SAMPLES,
    STEP,
    WORKERS,
)
from xlamig.flow.model.frequency_guards import FrequencyGuards
from xlamig.flow.model.regions import TRAINING, Regions
from xlamig.flow.model.sample_transforms import sample_transforms
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values as table

OUTSIDE = sys.stdlib_module_names | {"torch", "torchvision", "torch_xla", "numpy", "builtins"}


class CallGraph:
    """The calls of a module: the callees of each function ("f") and method ("C.f"), as dotted names of
    imports, ".f" of the module's own functions, and OWN + "C.f" of what the class C leaves to those below
    it; STEP lists what steps of training and forward passes are or call, WORKERS what the workers of a loader
    call, DATASETS the methods of datasets, SAMPLES what transforms their samples, and HELD the functions of
    other modules that lists and dictionaries hold.

    FIRST_RANK and AT_TIMES have the calls that run on one rank, and in some iterations, only; the functions
    around them do not."""

    def __init__(self, scopes: ScopeTable, analysis: Analysis, regions: Regions) -> None:
        self.scopes = scopes
        self.names = analysis.names
        self.regions = regions
        self.frequency_guards = FrequencyGuards(analysis)
        self._built: dict[tuple[str, Scope], bool] = {}
        self._kinds: dict[tuple[str, Scope], Set[type]] = {}
        self._transforms: set[int] = set()  # the identities of what transforms samples
        self.found: dict[str, set[str]] = {
            caller: set() for caller in (STEP, WORKERS, DATASETS, SAMPLES, FIRST_RANK, AT_TIMES, BODY, HELD)
        }

    def calls(self, module: ir.Module) -> Mapping[str, tuple[str, ...]]:
        """Return the callees by caller."""
        self._transforms = {id(part) for part in sample_transforms(module, self.scopes)}
        self._read(module.body, self.scopes.module)
        for function in self.regions.given_to_workers:
            self.found[WORKERS].update(self.called_name(function, self.scopes.module))
        for mapping in of_kind(module, ir.Dict):
            self.found[HELD].update(self._held(mapping.values))
        for sequence in of_kind(module, ir.Sequence):
            self.found[HELD].update(self._held(sequence.elements))
        return {name: tuple(sorted(called)) for name, called in self.found.items() if called}

    def _held(self, kept: Iterable[ir.Expr]) -> Iterator[str]:
        """Yield the functions of other modules among the values of a list or dictionary."""
        for value in kept:
            bound = self.scopes.module.bindings.get(path_of(value).partition(".")[0], [])
            if any(binding.kind == "import" for binding in bound):
                yield from self.called_name(value, self.scopes.module)

    def _read(self, body: ir.Block, scope: Scope, owner: ir.ClassDef | None = None) -> None:
        """The functions of a module or class."""
        for node in body:
            if isinstance(node, ir.FunctionDef):
                name = f"{owner.name}.{node.name}" if owner is not None else node.name
                self.found[name] = set(self._called(node.body, self.scopes.of(node), owner))
                words = self.regions.of_function(node, scope)
                if "per-step" in words:
                    self.found[STEP].add(f".{name}")
                if owner is not None and self.regions.serves_data(scope):
                    self.found[DATASETS].add(f".{name}")
                if "worker" in words:
                    self.found[WORKERS].add(f".{name}")
                self._loops(node.body, self.scopes.of(node), owner)
            elif isinstance(node, ir.ClassDef) and owner is None:
                self._read(node.body, self.scopes.of(node), node)
            elif owner is None:
                self.found[BODY].update(self._called((node,), scope, None))
                self._loops((node,), scope, None)

    def _loops(self, body: Iterable[ir.Stmt], scope: Scope, owner: ir.ClassDef | None) -> None:
        for node in body:
            if isinstance(node, ir.For | ir.While) and self.regions.of_loop(node.body, scope) == TRAINING:
                self.found[STEP].update(self._called(node.body, scope, owner))
            else:
                self._loops((n for n in ir.children(node) if isinstance(n, ir.Stmt)), scope, owner)

    def _called(self, body: Iterable[ir.Node], scope: Scope, owner: ir.ClassDef | None) -> Iterator[str]:
        for node in body:
            called = self._called_in(node, scope, owner)
            if id(node) in self._transforms:
                self.found[SAMPLES].update(called)
            else:
                yield from called

    def _called_in(self, node: ir.Node, scope: Scope, owner: ir.ClassDef | None) -> Iterator[str]:
        match node:
            case ir.If(test=test):
                yield from self._called((test,), scope, owner)
                for block, holds in ((node.body, True), (node.orelse, False)):
                    called = self._called(block, scope, owner)
                    if rare := self._rarely(test, scope, holds):
                        self.found[rare].update(called)
                    else:
                        yield from called
            case ir.Raise() | ir.Assert():
                return
            case ir.Call(func=func):
                yield from self.called_name(func, scope, owner)
                yield from self._called(ir.children(node), scope, owner)
            case _:
                yield from self._called(ir.children(node), scope, owner)

    def _rarely(self, test: ir.Expr, scope: Scope, holds: bool) -> str:
        """Return the caller of what a test lets run on one rank or in some iterations only, "" for others."""
        if self.frequency_guards.first_rank(test, scope, holds):
            return FIRST_RANK
        match test:
            case ir.Compare(left=ir.Attribute(value=ir.Name(id="self")), ops=("is",)) if holds:
                return AT_TIMES  # `if self.table is None`: made once
        return AT_TIMES if self.frequency_guards.lowers_frequency(test, scope, holds) else ""

    def called_name(self, func: ir.Expr, scope: Scope, owner: ir.ClassDef | None = None) -> Iterator[str]:
        """Yield the functions that an expression stands for where it is called."""
        path = path_of(func)
        first, _, rest = path.partition(".")
        if self._is_built(path.rpartition(".")[0], scope):
            yield f"{BUILT}{path.rpartition('.')[2]}"
        if first == "self" and owner is not None:
            if rest and "." not in rest:
                yield from self._method(rest, owner, scope)
            return
        own = self._own_kinds(first, scope)
        if ir.FunctionDef in own:
            yield f".{first}"
        elif not rest and ir.ClassDef in own:
            yield f".{first}.__init__"
        elif (first and scope.lookup(first)) or self.scopes.module.stars:
            dotted = self.names.dotted(func, scope)
            if dotted is not None and dotted.partition(".")[0] not in OUTSIDE:
                yield dotted

    def _own_kinds(self, name: str, scope: Scope) -> Set[type]:
        """Return what kinds of things the module defines under a name, functions and classes among them."""
        asked = name, scope
        if asked not in self._kinds:
            bound = scope.lookup(name) if name else []
            self._kinds[asked] = {type(b.node) for b in bound if b.scope is self.scopes.module}
        return self._kinds[asked]

    def _is_built(self, path: str, scope: Scope) -> bool:
        """Return whether a factory makes what a name or an attribute stands for: `build_head(cfg.head)`."""
        asked = path, scope
        if asked not in self._built:
            made = scope.find(path) if path and path != "self" else []
            funcs = (path_of(b.value.func) for b in made if isinstance(b.value, ir.Call))
            makes = table.name_like("makes").search
            self._built[asked] = any(makes(func.rpartition(".")[2]) for func in funcs)
        return self._built[asked]

    def _method(self, name: str, owner: ir.ClassDef, scope: Scope) -> Iterator[str]:
        """A method of the class itself, or of a class that it is made from."""
        if any(isinstance(s, ir.FunctionDef) and s.name == name for s in owner.body):
            yield f".{owner.name}.{name}"
            return
        for arg in owner.args:
            dotted = self.names.dotted(arg.value, scope)
            path = dotted if dotted is not None else f".{path_of(arg.value)}"
            if arg.keyword is None and path.partition(".")[0] not in OUTSIDE:
                yield f"{path}.{name}"
        own = scope.class_scope
        if own is not None and name not in own.attributes:
            yield f"{OWN}{owner.name}.{name}"
