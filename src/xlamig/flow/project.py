"""What other modules of the project may rely on: a module's exported names and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Export:
    """One exported name.

    name       another dotted name: an import or an alias ("torch.cuda.amp.autocast")
    constant   a plain Python constant, `constant` holds it
    device     a torch.device, `value` is its text
    cuda-test  true only where CUDA is
    class      `value` is the space-separated names of bases, `members` its methods
    function   a function; `value` is "device" if it returns a device chosen by CUDA availability
    """

    kind: Literal["name", "constant", "device", "cuda-test", "class", "function"]
    value: str = ""
    constant: str | int | float | bool | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interface:
    """A module as its importers see it. `imports` are the dotted modules it names."""

    module: str
    exports: Mapping[str, Export] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


class ProjectIndex:
    """Interfaces by module name, with re-exports followed."""

    def __init__(self, interfaces: Mapping[str, Interface]) -> None:
        self._interfaces = interfaces

    def __contains__(self, module: str) -> bool:
        return module in self._interfaces

    def resolve(self, dotted: str) -> Export | None:
        """What a dotted name of the project means; a "name" export leads outside the project.
        None if the name is not the project's."""
        for _ in range(12):  # re-exports may form a cycle
            found = self._lookup(dotted)
            if found is None or found.kind != "name":
                return found
            if self._owner(found.value) is None:
                return found
            dotted = found.value
        return None

    def _owner(self, dotted: str) -> str | None:
        module = dotted
        while module:
            if module in self._interfaces:
                return module
            module = module.rpartition(".")[0]
        return None

    def _lookup(self, dotted: str) -> Export | None:
        owner = self._owner(dotted)
        if owner is None or owner == dotted:
            return None
        name, _, rest = dotted[len(owner) + 1 :].partition(".")
        interface = self._interfaces[owner]
        export = interface.exports.get(name)
        if export is None:
            export = self._from_stars(interface, name)
        if export is None or not rest:
            return export
        return Export("name", f"{export.value}.{rest}") if export.kind == "name" else None

    def _from_stars(self, interface: Interface, name: str) -> Export | None:
        for star in interface.stars:
            other = self._interfaces.get(star)
            if other is not None and other is not interface and name in other.exports:
                return other.exports[name]
        return None

    def needed_by(self, interface: Interface) -> Mapping[str, Interface]:
        """The interfaces that can change what `interface`'s module means: all it reaches."""
        reached: dict[str, Interface] = {}
        waiting = [*interface.imports, *interface.stars]
        while waiting:
            owner = self._owner(waiting.pop())
            if owner is None or owner in reached:
                continue
            found = self._interfaces[owner]
            reached[owner] = found
            waiting += [e.value for e in found.exports.values() if e.kind == "name"]
            waiting += found.stars
        return reached
