"""The index of the project's modules: who imports, defines and calls what."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from xlamig.flow.model.callers import Callers, callers_of
from xlamig.flow.model.closure import closure
from xlamig.flow.model.dispatch import KnownClass, dispatched, overriding, registered_methods
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.exports import Interface
from xlamig.flow.model.name_index import NameIndex
from xlamig.flow.model.registries import CONFIGURED, RegistryIndex
from xlamig.flow.model.summaries import FunctionSummary

_MAX_KEPT = 500  # modules behind the names of one: a chain of all would take quadratic memory
_MAX_CALLED = 40  # modules that the analysis of one runs functions of


class ProjectIndex(NameIndex):
    """The modules of a project: what each imports, defines and calls."""

    def __init__(self, interfaces: Mapping[str, Interface]) -> None:
        super().__init__(interfaces)
        self._edges: dict[str, tuple[str, ...]] = {}
        self._named: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, frozenset[str]] = {}
        self._programs: dict[str, frozenset[str]] = {}

    def summary(self, dotted: str, origin: str) -> tuple[FunctionSummary, str] | None:
        """Return the summary of a function or method as module `origin` calls it, with its module."""
        place = self.find_method(dotted, origin)
        found = self._interfaces[place[0]].summaries.get(place[1]) if place is not None else None
        return (found, place[0]) if place is not None and found is not None else None

    def defines(self, module: str, name: str) -> bool:
        """Return whether a module defines a function or class of this name."""
        export = self._interfaces[module].exports.get(name)
        return export is not None and export.kind in ("function", "class")

    @cached_property
    def registries(self) -> RegistryIndex:
        """The registries of the modules in reach."""
        parts = {name: one.registries for name, one in self._interfaces.items()}
        return RegistryIndex(parts, self.locate)

    @cached_property
    def callers(self) -> Mapping[str, Callers]:
        """By module, what the others and itself call of it."""
        calls = {module: interface.calls for module, interface in self._interfaces.items()}
        parts = {module: interface.dispatch for module, interface in self._interfaces.items()}
        classes = self._classes
        found = dict(dispatched(parts, classes, self.locate))
        for method, others in overriding(classes, self.locate).items():
            found[method] = [*found.get(method, ()), *others]
        on_cuda = {module: interface.cuda_calls for module, interface in self._interfaces.items()}
        built = registered_methods(self.registries.definitions, classes, self.locate)
        return callers_of(calls, self.locate, found, built, on_cuda)

    @property
    def _classes(self) -> Mapping[tuple[str, str], KnownClass]:
        """The classes of all modules, by module and name."""
        return {
            (module, name): KnownClass(tuple(export.value.split()), export.members)
            for module, interface in self._interfaces.items()
            for name, export in interface.exports.items()
            if export.kind == "class"
        }

    def holds(self, dotted: str, origin: str) -> bool:
        """Return whether a name that `origin` imports leads to a module of the project."""
        return self._owner(dotted, origin) is not None

    def has_reading_method(self, name: str) -> bool:
        """Return whether a method of this name, of a class of the modules in reach, always reads a tensor."""
        return any(
            Effect.READ in summary.effects.must
            for interface in self._interfaces.values()
            for path, summary in interface.summaries.items()
            if path.endswith(f".{name}")
        )

    def has_method(self, name: str, unless: re.Pattern[str] | None = None) -> bool:
        """Return whether a class of the modules in reach defines this method; not counting those with a base
        of a name that `unless` finds."""
        found = self._bases_by_method.get(name, ())
        return any(not (unless and any(map(unless.search, bases.split()))) for bases in found)

    def defines_alone(self, name: str, other: str) -> bool:
        """Return whether a class without a base defines the method `name` and not `other`."""
        return any(
            export.kind == "class"
            and name in export.members
            and other not in export.members
            and set(export.value.split()) <= {"object"}
            for interface in self._interfaces.values()
            for export in interface.exports.values()
        )

    @cached_property
    def _bases_by_method(self) -> Mapping[str, set[str]]:
        """The bases of the classes that define a method, by its name."""
        found: dict[str, set[str]] = {}
        for interface in self._interfaces.values():
            for export in interface.exports.values():
                for name in export.members if export.kind == "class" else ():
                    found.setdefault(name, set()).add(export.value)
        return found

    def chooses_device(self, origin: str, helper: str) -> bool:
        """Return whether a module that `origin` reaches may choose a device. `helper`, which fixes write,
        does so where it is called."""
        return any(
            one.device
            for name, one in self._interfaces.items()
            if name != origin and name.rpartition(".")[2] != helper
        )

    def may_choose_device(self, modules: Iterable[str]) -> bool:
        """Return whether one of these modules may choose a device."""
        return any(self._interfaces[module].device for module in modules if module in self._interfaces)

    @cached_property
    def placing_flags(self) -> frozenset[str]:
        """The names of the flags and options that decide placements on CUDA in the modules in reach."""
        return frozenset(name for one in self._interfaces.values() for name in one.placing_flags)

    @cached_property
    def import_depths(self) -> Mapping[str, frozenset[int]]:
        """By module, with how many names of folders in front the others import it."""
        found: dict[str, set[int]] = {}
        for interface in self._interfaces.values():
            for name in (*interface.imports, *interface.stars):
                if owner := self._owner(name, interface.module):
                    module, rest = owner
                    found.setdefault(module, set()).add(name.removesuffix(rest).strip(".").count("."))
        return {module: frozenset(depths) for module, depths in found.items()}

    def is_taken(self, module: str, name: str) -> bool:
        """Return whether another module may take a name from `module`: by `from module import name`, by a
        star import, or as an attribute of the module."""
        return bool(self._taken.get(module, frozenset()) & {name, "", "*"})

    @cached_property
    def _taken(self) -> Mapping[str, set[str]]:
        """By module, what the others import of it: names, "" for itself, "*" for all that it binds."""
        found: dict[str, set[str]] = {}
        for interface in self._interfaces.values():
            for name in interface.imports:
                if owner := self._owner(name, interface.module):
                    found.setdefault(owner[0], set()).add(owner[1].partition(".")[0])
            for owner_module in self._owners_of(interface.stars, interface.module):
                found.setdefault(owner_module, set()).add("*")
        return found

    def programs_with(self, module: str) -> frozenset[str]:
        """The modules of all programs that `module` is a part of."""
        if module not in self._programs:
            importers = self.importers_of(module)
            self._programs[module] = frozenset(closure(importers, lambda one: self._imports.get(one, ())))
        return self._programs[module]

    def importers_of(self, module: str) -> frozenset[str]:
        """Return a module and those that import it, directly or through others."""
        return frozenset(closure({module}, lambda one: self.importers.get(one, ())))

    def imported_by(self, module: str) -> frozenset[str]:
        """Return a module and those that it imports, directly or through others, with what fills their
        registries; a package that a module is only in is none."""
        edges = self._imports
        return frozenset(closure({module}, lambda m: (*edges.get(m, ()), *self.registries.fillers(m))))

    def misses_module(self, module: str) -> bool:
        """Return whether a module imports something that may be a module of the project, but is not found."""
        interface = self._interfaces.get(module)
        names = (*interface.imports, *interface.stars) if interface else ()
        lost = (name for name in names if self._owner(name, module) is None)
        return any(not self._parts.isdisjoint(name.split(".")[:1]) for name in lost)

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The names of the modules and folders of the project."""
        return frozenset(part for module in self._interfaces for part in module.split("."))

    @cached_property
    def importers(self) -> Mapping[str, set[str]]:
        """The modules that import a module directly."""
        found: dict[str, set[str]] = {}
        for module, imported in self._imports.items():
            for one in imported:
                found.setdefault(one, set()).add(module)
        return found

    @cached_property
    def _imports(self) -> Mapping[str, tuple[str, ...]]:
        return {name: self._imported(interface) for name, interface in self._interfaces.items()}

    @cached_property
    def loaders(self) -> Mapping[str, set[str]]:
        """The modules whose body loads a module: by an import of it, or of a module in it."""
        found: dict[str, set[str]] = {}
        for module, interface in self._interfaces.items():
            for one in self._owners_of((*interface.at_top, *interface.stars), module):
                for name in {one, *packages_of(one)} - {module, *packages_of(module)}:
                    found.setdefault(name, set()).add(module)
        return found

    def needed_by(self, interface: Interface, also: Iterable[str] = ()) -> Mapping[str, Interface]:
        """The interfaces that can change what `interface`'s module means: all it reaches, and of `also`."""
        itself = self._search_path(interface.module) or CONFIGURED in interface.registries.made
        own = (interface.module,) if itself else ()
        starts = {*own, *self._imported(interface), *self.registries.fillers(interface.module), *also}
        reached = frozenset[str]().union(*map(self._meant_through, starts))
        return {module: self._interfaces[module] for module in sorted(reached)}

    def _meant_through(self, module: str) -> frozenset[str]:
        """Return a module and all that its names may come from."""
        known = self._sources.get(module)
        if known is None:
            known = frozenset(closure({module}, self._sources_of))
            if len(known) <= _MAX_KEPT:
                self._sources[module] = known
        return known

    def called_from(self, module: str, also: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the modules whose functions a run of `module` may call, the nearest first: what it
        imports, `also`, and what these import. A package stands behind the modules that define what is
        imported from it: most of what it collects nothing here calls."""
        reached = {module: None}
        waiting = deque((*self._named_by(module), *self.registries.fillers(module), *also))
        while waiting and len(reached) <= _MAX_CALLED:
            one = waiting.popleft()
            if one not in reached:
                reached[one] = None
                waiting += [*self._named_by(one), *self.registries.fillers(one)]
        return tuple(reached)[1:]

    def _named_by(self, module: str) -> tuple[str, ...]:
        """Return the modules that define what a module imports by name, then those that it imports."""
        if module not in self._named:
            found = (self.locate(name, module) for name in self._interfaces[module].imports)
            self._named[module] = (*(place[0] for place in found if place), *self._imports[module])
        return self._named[module]

    def reached_from(self, modules: Iterable[str]) -> frozenset[str]:
        """The modules, all they import, directly or through others, and the packages these are in."""
        edges = {name: (*some, name.rpartition(".")[0]) for name, some in self._imports.items()}
        return frozenset(closure(modules, lambda one: edges.get(one, ())) & self._interfaces.keys())

    def _imported(self, interface: Interface) -> tuple[str, ...]:
        return tuple(self._owners_of((*interface.imports, *interface.stars), interface.module))

    def _owners_of(self, names: Iterable[str], module: str) -> Iterator[str]:
        """Yield the modules that hold what a module imports by these names."""
        return (owner[0] for name in names if (owner := self._owner(name, module)))

    def unfound(self) -> frozenset[str]:
        """Return what modules import and the project does not hold where they look for it, with the packages
        that it would be in."""
        names = ((name, i.module) for i in self._interfaces.values() for name in (*i.imports, *i.stars))
        lost = (name for name, module in names if self._owner(name, module) is None)
        return frozenset(one for name in lost for one in (name, *packages_of(name)))

    def _sources_of(self, module: str) -> Iterator[str]:
        """Yield the modules that names of a module come from directly."""
        yield from self._reexported(module)
        yield from self.registries.fillers(module)

    def _reexported(self, module: str) -> tuple[str, ...]:
        if module not in self._edges:
            interface = self._interfaces[module]
            names = [e.value for e in interface.exports.values() if e.kind == "name"]
            owners = (self._owner(name, module) for name in (*names, *interface.stars))
            self._edges[module] = tuple({owner[0]: None for owner in owners if owner})
        return self._edges[module]


def packages_of(module: str) -> Iterator[str]:
    """Yield the names of the folders that a module is in."""
    while module := module.rpartition(".")[0]:
        yield module
