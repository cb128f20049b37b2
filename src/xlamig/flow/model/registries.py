"""Registries: containers of functions and classes, filled by a literal or by decorators in any file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

OWN = "self"
"""The container of a method that adds to its own object."""

CONFIGURED = "<configured>"
"""The registry of what configurations name, of each module that makes objects of configurations."""

BY_NAME = "="
"""The mark before a key in CONFIGURED whose value in a configuration is the bare name of a class."""

BELOW = "<"
"""The mark before a key in CONFIGURED that is the name of a class, for those below it."""

Locate = Callable[[str, str], tuple[str, str] | None]
"""The module that defines what a dotted name means in a module, and its name there."""


class Entry(NamedTuple):
    """An addition to a registry: `container` is it, or what adds to it, and `name` is what is added, both as
    the module names them; `key` is "" where it is not a constant."""

    container: str
    key: str
    name: str


class Registries(NamedTuple):
    """A module's part in registries: those it makes, with the class of each ("" a dictionary), the functions
    that add an argument of theirs to a container, and what it adds."""

    made: Mapping[str, str]
    adders: Mapping[str, str]
    entries: tuple[Entry, ...]


NO_REGISTRIES = Registries({}, {}, ())


class Held(NamedTuple):
    """A definition that a registry holds under a key ("" not known)."""

    key: str
    module: str
    name: str


class RegistryIndex:
    """The registries of a project, with what each holds."""

    def __init__(self, parts: Mapping[str, Registries], locate: Locate) -> None:
        self._locate = locate
        self._entries = _entries(parts, locate)
        self._held: dict[tuple[str, str], tuple[Held, ...]] = {}  # what was asked for

    def held(self, module: str, name: str) -> tuple[Held, ...]:
        """Return what a registry holds; nothing for another name."""
        entries = self._entries.get((module, name))
        if entries is None:
            return ()
        if (module, name) not in self._held:
            found = {self._definition(origin, entry): None for origin, entry in entries}
            self._held[module, name] = tuple(sorted(held for held in found if held is not None))
        return self._held[module, name]

    def _definition(self, origin: str, entry: Entry) -> Held | None:
        place = self._locate(entry.name, origin)
        return Held(entry.key, place[0], place[1].removesuffix(".__init__")) if place is not None else None

    @cached_property
    def definitions(self) -> frozenset[tuple[str, str]]:
        """The modules and names of all that registries hold."""
        return frozenset((one.module, one.name) for place in self._entries for one in self.held(*place))

    @cached_property
    def _fillers(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for module, name in self._entries:
            found.setdefault(module, set()).update(one.module for one in self.held(module, name))
        return found

    def fillers(self, module: str) -> list[str]:
        """Return the modules that fill the registries of a module."""
        return sorted(self._fillers.get(module, ()))


def _entries(
    parts: Mapping[str, Registries], locate: Locate
) -> dict[tuple[str, str], list[tuple[str, Entry]]]:
    """Return the additions to each registry, with the modules that make them."""
    found: dict[tuple[str, str], list[tuple[str, Entry]]] = {}
    for module, part in parts.items():
        named = {entry.container for entry in part.entries}
        containers = {name: _registry(name, module, parts, locate) for name in named}
        for entry in part.entries:
            container = containers[entry.container]
            if container is not None:
                found.setdefault(container, []).append((module, entry))
    return found


def _registry(
    dotted: str, origin: str, parts: Mapping[str, Registries], locate: Locate
) -> tuple[str, str] | None:
    """Return the registry that a name means, or that a function adds to."""
    place = locate(dotted, origin)
    if place is None:
        return None
    module, path = place
    part = parts.get(module, NO_REGISTRIES)
    name, _, method = path.partition(".")
    if name in part.made:
        maker = part.made[name]
        if not maker:
            return (module, name) if not method else None
        made = locate(f"{maker}.{method or '__call__'}", module)
        adders = parts.get(made[0], NO_REGISTRIES).adders if made is not None else {}
        adds = adders.get(made[1]) == OWN if made is not None else method.startswith("register")
        return (module, name) if adds else None
    container = part.adders.get(path, OWN)
    if container in part.made:
        return module, container
    return _registry(container, module, parts, locate) if container != OWN else None
