"""The index of the project's modules: exported names and their meaning."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cached_property

from xlamig.flow.model.callers import Callers, callers_of
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.exports import Export, Interface
from xlamig.flow.model.registries import RegistryIndex
from xlamig.flow.model.search_path import folders_named
from xlamig.flow.model.summaries import FunctionSummary

_MAX_REEXPORTS = 12  # re-exports may form a cycle
_MAX_KEPT = 500  # modules behind the names of one: a chain of all would take quadratic memory
_MAX_CALLED = 40  # modules that the analysis of one runs functions of


class ProjectIndex:
    """Interfaces by module, with re-exports followed.

    A module's identity is its path with dots ("src.pkg.utils"). An import means the module found
    from the importer's folder or the nearest folder above it, which serves packages, `src`
    layouts, loose scripts and folders without `__init__.py` alike; or else in a folder that the importer
    adds to `sys.path`.
    """

    def __init__(self, interfaces: Mapping[str, Interface]) -> None:
        self._interfaces = interfaces
        self._owners: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._meanings: dict[tuple[str, str], Export | None] = {}
        self._places: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._edges: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, frozenset[str]] = {}
        self._programs: dict[str, frozenset[str]] = {}
        self._inside: dict[str, set[str]] = {}
        for module in interfaces:
            folder = ""
            for part in module.split("."):
                self._inside.setdefault(folder, set()).add(part)
                folder = f"{folder}.{part}" if folder else part

    def resolve(self, dotted: str, origin: str) -> Export | None:
        """Return the meaning of `dotted` in module `origin`; a "name" export leads outside the project. None
        if it is not the project's."""
        key = dotted, origin
        if key not in self._meanings:
            self._meanings[key] = self._resolve(dotted, origin)
        return self._meanings[key]

    def _resolve(self, dotted: str, origin: str) -> Export | None:
        for _ in range(_MAX_REEXPORTS):
            owner = self._owner(dotted, origin)
            if owner is None:
                return None
            module, rest = owner
            export = self._member(self._interfaces[module], rest)
            if export is None or export.kind != "name":
                return export
            if self._owner(export.value, module) is None:
                return export
            dotted, origin = export.value, module
        return None

    def _owner(self, dotted: str, origin: str) -> tuple[str, str] | None:
        """The module that holds `dotted` and what is left of the name inside it."""
        key = (dotted, origin.rpartition(".")[0])
        if key not in self._owners:
            self._owners[key] = self._find_owner(*key)
        return self._owners[key] or self._find_on_search_path(dotted, origin)

    def _find_on_search_path(self, dotted: str, origin: str) -> tuple[str, str] | None:
        interface = self._interfaces.get(origin)
        folders = folders_named(interface.search_path, self._inside) if interface is not None else ()
        found = (self._longest(f"{folder}.{dotted}", folder) for folder in folders)
        return next((one for one in found if one is not None and self._may_hold(*one)), None)

    def _find_owner(self, dotted: str, folder: str) -> tuple[str, str] | None:
        first = dotted.partition(".")[0]
        nearest: tuple[str, str] | None = None
        while True:
            if first in self._inside.get(folder, ()):
                found = self._longest(f"{folder}.{dotted}" if folder else dotted, folder)
                if found is not None and self._may_hold(*found):
                    return found
                nearest = nearest or found
            if not folder:
                return nearest
            folder = folder.rpartition(".")[0]

    def _may_hold(self, module: str, path: str) -> bool:
        """Return whether a module may hold a name: in `app/app/net.py`, `app.app.net` begins at the outer."""
        interface = self._interfaces[module]
        return not path or bool(interface.stars) or path.partition(".")[0] in interface.exports

    def _longest(self, path: str, folder: str) -> tuple[str, str] | None:
        module = path
        while len(module) > len(folder):
            if module in self._interfaces:
                return module, path[len(module) + 1 :]
            module = module.rpartition(".")[0]
        return None

    def _member(self, interface: Interface, path: str) -> Export | None:
        name, _, rest = path.partition(".")
        if not name:
            return None
        export = interface.exports.get(name) or self._from_stars(interface, name, {interface.module})
        if export is None or not rest:
            return export
        return Export("name", f"{export.value}.{rest}") if export.kind == "name" else None

    def _from_stars(self, interface: Interface, name: str, seen: set[str]) -> Export | None:
        for star in interface.stars:
            owner = self._owner(star, interface.module)
            other = self._interfaces[owner[0]] if owner else None
            if other is None or other.module in seen:
                continue
            seen.add(other.module)
            found = other.exports.get(name) or self._from_stars(other, name, seen)
            if found is not None:
                return found
        return None

    def locate(self, dotted: str, origin: str) -> tuple[str, str] | None:
        """The module that defines a function or method of the project, and its name there; of a class its
        `__init__`."""
        key = dotted, origin
        if key not in self._places:
            self._places[key] = self._locate(dotted, origin)
        return self._places[key]

    def _locate(self, dotted: str, origin: str) -> tuple[str, str] | None:
        for _ in range(_MAX_REEXPORTS):
            owner = self._owner(dotted, origin)
            if owner is None:
                return None
            origin, path = owner
            name, _, rest = path.partition(".")
            export = self._interfaces[origin].exports.get(name)
            if export is None:
                return None
            if export.kind != "name":
                made = export.kind == "class" and not rest
                return origin, f"{path}.__init__" if made else path
            dotted = f"{export.value}.{rest}" if rest else export.value
        return None

    def find_method(self, dotted: str, origin: str) -> tuple[str, str] | None:
        """The module that defines the function `f` or the method `C.m`, and its name there; a method is also
        looked for in the classes above."""
        owner, _, name = dotted.rpartition(".")
        export = self.resolve(owner, origin) if owner else None
        if export is None or export.kind != "class":
            return self.locate(dotted, origin)
        return self._method(owner, name, origin, _MAX_REEXPORTS)

    def _method(self, owner: str, name: str, origin: str, depth: int) -> tuple[str, str] | None:
        place = self.locate(f"{owner}.{name}", origin)
        if place is None or not depth:
            return None
        module, path = place
        export = self._interfaces[module].exports.get(path.partition(".")[0])
        if export is None or export.kind != "class":
            return None
        if name in export.members:
            return place
        bases = (self._method(base, name, module, depth - 1) for base in export.value.split())
        return next((found for found in bases if found is not None), None)

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
        return callers_of(calls, self.locate)

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

    @cached_property
    def _bases_by_method(self) -> Mapping[str, set[str]]:
        """The bases of the classes that define a method, by its name."""
        found: dict[str, set[str]] = {}
        for interface in self._interfaces.values():
            for export in interface.exports.values():
                for name in export.members if export.kind == "class" else ():
                    found.setdefault(name, set()).add(export.value)
        return found

    def chooses_device(self, origin: str) -> bool:
        """Return whether a module that `origin` reaches may choose a device."""
        return any(one.device for name, one in self._interfaces.items() if name != origin)

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

    def programs_with(self, module: str) -> frozenset[str]:
        """The modules of all programs that `module` is a part of."""
        if module not in self._programs:
            importers = _closure({module}, self.importers)
            self._programs[module] = frozenset(_closure(importers, self._imports))
        return self._programs[module]

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

    def needed_by(self, interface: Interface, also: Iterable[str] = ()) -> Mapping[str, Interface]:
        """The interfaces that can change what `interface`'s module means: all it reaches, and of `also`."""
        own = (interface.module,) if interface.search_path else ()
        starts = {*own, *self._imported(interface), *self.registries.fillers(interface.module), *also}
        reached = frozenset[str]().union(*map(self._meant_through, starts))
        return {module: self._interfaces[module] for module in sorted(reached)}

    def _meant_through(self, module: str) -> frozenset[str]:
        """Return a module and all that its names may come from."""
        known = self._sources.get(module)
        if known is None:
            reached: set[str] = set()
            waiting = [module]
            while waiting:
                one = waiting.pop()
                if one not in reached:
                    reached.add(one)
                    waiting.extend(self._reexported(one))
                    waiting.extend(self.registries.fillers(one))
            known = frozenset(reached)
            if len(known) <= _MAX_KEPT:
                self._sources[module] = known
        return known

    def called_from(self, module: str, also: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the modules whose functions a run of `module` may call, the nearest first: what it
        imports, `also`, and what these import."""
        reached = {module: None}
        waiting = deque((*self._imports[module], *self.registries.fillers(module), *also))
        while waiting and len(reached) <= _MAX_CALLED:
            one = waiting.popleft()
            if one not in reached:
                reached[one] = None
                waiting += [*self._imports[one], *self.registries.fillers(one)]
        return tuple(reached)[1:]

    def reached_from(self, modules: Iterable[str]) -> frozenset[str]:
        """The modules, all they import, directly or through others, and the packages these are in."""
        edges = {name: (*some, name.rpartition(".")[0]) for name, some in self._imports.items()}
        return frozenset(_closure(modules, edges) & self._interfaces.keys())

    def _imported(self, interface: Interface) -> tuple[str, ...]:
        names = (*interface.imports, *interface.stars)
        return tuple(owner[0] for name in names if (owner := self._owner(name, interface.module)))

    def _reexported(self, module: str) -> tuple[str, ...]:
        if module not in self._edges:
            interface = self._interfaces[module]
            names = [e.value for e in interface.exports.values() if e.kind == "name"]
            owners = (self._owner(name, module) for name in (*names, *interface.stars))
            self._edges[module] = tuple({owner[0]: None for owner in owners if owner})
        return self._edges[module]


def _closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(edges.get(one, ()))
    return found
