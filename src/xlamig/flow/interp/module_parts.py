"""The modules that a module holds, which move with it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.flow.interp.domain import AbstractValue, Mark, Ref, TorchModule
from xlamig.flow.interp.frames import ClassInfo, modules_of


class ModuleParts:
    """Remembers by a list's `ref` the modules that are appended to it one by one."""

    def __init__(self) -> None:
        self._appended: dict[Ref, list[AbstractValue]] = {}

    def append(self, whole: AbstractValue, part: AbstractValue) -> None:
        """A list of modules gets one more."""
        held = self._appended.setdefault(whole.ref, [])
        if part.kind == "module" and part.ref is not None and all(part.ref != one.ref for one in held):
            held.append(part)

    def forget(self) -> None:
        """Forget what was put into containers."""
        self._appended.clear()

    def all_of(self, module: AbstractValue) -> list[AbstractValue]:
        """Return a module and all below it, each once; of a copy, whose parts are copies too, itself."""
        found, seen = [module], {*modules_of(module.ref)}
        for one in found:  # it grows
            if one is not module and one.trait is Mark.COPY:
                continue
            for part in (*_attributes(one), *self.held_by(one)):
                refs = modules_of(part.ref) if part.kind == "module" and part.ref is not None else []
                if not seen.issuperset(refs):
                    seen.update(refs)
                    found.append(part)
        return found

    def held_by(self, module: AbstractValue) -> Iterator[AbstractValue]:
        """Yield a module and what it holds as a list, at any depth."""
        yield module
        if isinstance(module.trait, TorchModule):
            for part in (*(module.items or (module.element,)), *self._appended.get(module.ref, ())):
                if part is not None and part.kind == "module" and part.ref != module.ref:
                    yield from self.held_by(part)


def _attributes(module: AbstractValue) -> Iterator[AbstractValue]:
    for ref in modules_of(module.ref):
        for cls in ref.lineage() if isinstance(ref, ClassInfo) else ():
            yield from cls.attributes.values()
