"""Which module of the project an imported name is of, and what it means there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain

from xlamig.flow.model.exports import Export, Interface
from xlamig.flow.model.search_path import folders_named

_MAX_REEXPORTS = 12  # re-exports may form a cycle


class NameIndex:
    """Interfaces by module, with re-exports followed.

    A module's identity is its path with dots ("src.pkg.utils"). An import means the module found
    from the importer's folder or the nearest folder above it, which serves packages, `src`
    layouts, loose scripts and folders without `__init__.py` alike; or else in a folder that the importer,
    or what it imports, adds to `sys.path`.
    """

    def __init__(self, interfaces: Mapping[str, Interface]) -> None:
        self._interfaces = interfaces
        self._owners: dict[tuple[str, str, str], tuple[str, str] | None] = {}
        self._meanings: dict[tuple[str, str], Export | None] = {}
        self._places: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._inside: dict[str, set[str]] = {}
        self._added: dict[str, tuple[str, ...]] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._adding = {name: i.search_path for name, i in interfaces.items() if i.search_path}
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

    @cached_property
    def folders_and_modules(self) -> frozenset[str]:
        """The names of the project's modules and of the folders they are in, one by one."""
        return frozenset(chain.from_iterable(self._inside.values()))

    def is_module(self, dotted: str, origin: str) -> bool:
        """Return whether a name means a module of the project in module `origin`."""
        owner = self._owner(dotted, origin)
        return owner is not None and not owner[1]

    def definitions(self, dotted: str, origin: str) -> list[str]:
        """Return the public functions and classes that a module of the project defines."""
        owner = self._owner(dotted, origin)
        exports = self._interfaces[owner[0]].exports if owner is not None and not owner[1] else {}
        kinds = ("function", "class")
        return [name for name, one in exports.items() if one.kind in kinds and not name.startswith("_")]

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
        folder, _, own = origin.rpartition(".")
        itself = origin if dotted.partition(".")[0] == own else ""
        key = (dotted, folder, itself)
        if key not in self._owners:
            self._owners[key] = self._find_owner(*key)
        found = self._owners[key]
        if found is not None and self._may_hold(*found):
            return found
        return self._find_on_search_path(dotted, origin) or found

    def _find_on_search_path(self, dotted: str, origin: str) -> tuple[str, str] | None:
        if not self._adding:
            return None
        if origin not in self._folders:
            self._folders[origin] = tuple(folders_named(self._search_path(origin), self._inside))
        found = (self._longest(f"{folder}.{dotted}", folder) for folder in self._folders[origin])
        return next((one for one in found if one is not None and self._may_hold(*one)), None)

    def _search_path(self, origin: str) -> tuple[str, ...]:
        """Return the folders that a module and those that it imports from beside or above it add."""
        interface = self._interfaces.get(origin)
        if interface is None or not self._adding:
            return ()
        if origin not in self._added:
            folder = origin.rpartition(".")[0]
            owners = (self._find_owner(name, folder) for name in (*interface.imports, *interface.stars))
            found = {owner[0] for owner in owners if owner is not None}
            imported = (module for module in self._adding if module in found)
            adding = (interface.search_path, *(self._adding[module] for module in imported))
            self._added[origin] = tuple(chain.from_iterable(adding))
        return self._added[origin]

    def _find_owner(self, dotted: str, folder: str, itself: str = "") -> tuple[str, str] | None:
        """Return the module nearest to a folder that holds a name; a farther one if more of the name leads to
        it: `train.nets.net.Net` is in no `train/train.py` that imports `nets`. `itself` is the module that
        imports the name: `train/train.py` that imports `train` means the package."""
        first = dotted.partition(".")[0]
        possible: list[tuple[str, str]] = []
        holding: list[tuple[str, str]] = []
        while True:
            if first in self._inside.get(folder, ()):
                found = self._longest(f"{folder}.{dotted}" if folder else dotted, folder)
                if found is not None and found[0] != itself and self._may_hold(*found):
                    if "." not in found[1]:
                        return found  # all of the name but the last part is the module's
                    holding.append(found)
                possible += [found] if found else []
            if not folder:
                return min(holding or possible, key=_steps, default=None)
            folder = folder.rpartition(".")[0]

    def _may_hold(self, module: str, path: str) -> bool:
        """Return whether a module may hold a name: in `app/app/net.py`, `app.app.net` begins at the outer. A
        star import rarely brings a module."""
        interface = self._interfaces[module]
        by_star = bool(interface.stars) and "." not in path
        return not path or by_star or path.partition(".")[0] in interface.exports

    def _longest(self, path: str, folder: str) -> tuple[str, str] | None:
        module = path
        while len(module) > len(folder):
            if module in self._interfaces:
                return self._behind(module) if module == path else (module, path[len(module) + 1 :])
            module = module.rpartition(".")[0]
        return None

    def _behind(self, module: str) -> tuple[str, str]:
        """Return where the name of a module leads: its package may import something else under this name, as
        with `from .fit import fit`."""
        package, _, name = module.rpartition(".")
        export = self._interfaces[package].exports.get(name) if package in self._interfaces else None
        taken = export is not None and export.kind == "name" and export.value.endswith(f".{name}.{name}")
        return (package, name) if taken else (module, "")

    def _member(self, interface: Interface, path: str) -> Export | None:
        name, _, rest = path.partition(".")
        if not name:
            return None
        export = self._holder(interface, name).exports.get(name)
        if export is None or not rest:
            return export
        return Export("name", f"{export.value}.{rest}") if export.kind == "name" else None

    def _holder(self, interface: Interface, name: str) -> Interface:
        """Return the module that a name of a module comes from by star imports; itself if none brings it."""
        waiting = [interface]
        for one in waiting:  # it grows
            if name in one.exports:
                return one
            owners = (self._owner(star, one.module) for star in one.stars)
            found = (self._interfaces[owner[0]] for owner in owners if owner)
            waiting += [other for other in found if other not in waiting]
        return interface

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
            module, path = owner
            name, _, rest = path.partition(".")
            holder = self._holder(self._interfaces[module], name)
            origin, export = holder.module, holder.exports.get(name)
            if export is None:
                return None
            if export.kind != "name":
                made = export.kind == "class" and not rest
                return origin, f"{path}.__init__" if made else path
            dotted = f"{export.value}.{rest}" if rest else export.value
        return None

    def module_of(self, dotted: str, origin: str) -> str:
        """Return the module of the project that an imported name means, also through a re-export; "" where it
        means no module."""
        for _ in range(_MAX_REEXPORTS):
            owner = self._owner(dotted, origin)
            if owner is None or not owner[1]:
                return owner[0] if owner else ""
            export = self._interfaces[owner[0]].exports.get(owner[1])
            if export is None or export.kind != "name":
                return ""
            dotted, origin = export.value, owner[0]
        return ""

    def stars_of(self, module: str) -> tuple[str, ...]:
        """Return the names of the modules that a module imports all names from."""
        return self._interfaces[module].stars

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


def _steps(owner: tuple[str, str]) -> int:
    """Return how many names a module's own name is followed by."""
    return owner[1].count(".")
