"""Find parts of a module that move alone, after an optimizer was given the parameters of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlamig import ir
from xlamig.flow.interp.domain import TOP, AbstractValue, Mark, Ref, TorchModule
from xlamig.flow.interp.frames import ClassInfo, modules_of
from xlamig.flow.interp.layers import has_parameters, holds_others
from xlamig.flow.interp.moved_with import Holder
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of


class MovedParts:
    """Remembers optimizers by the whole and by the attribute that holds the part on the host: another object
    of the part's class is not in the optimizer."""

    def __init__(self, state: State) -> None:
        self.m = state
        self._held: dict[tuple[Ref, str], list[Holder]] = {}

    def share(self, other: MovedParts) -> None:
        """Remember together with another module of the program."""
        self._held = other._held

    def forget(self) -> None:
        """Forget all optimizers: what runs again makes them again."""
        self._held.clear()

    def hold(self, whole: AbstractValue, holder: Holder) -> None:
        """An optimizer is given the parameters of a module on the host."""
        for ref in modules_of(whole.ref):
            for name in self._parts(ref) if isinstance(ref, ClassInfo) else ():
                held = self._held.setdefault((ref, name), [])
                if all(other[1] is not holder[1] for other in held):
                    held.append(holder)

    def leave(self, module: AbstractValue, node: ir.Call) -> Iterator[Holder]:
        """Yield the optimizers that a move of a part leaves behind, each once."""
        part = node.func.value if isinstance(node.func, ir.Attribute) else None
        if not self._held or module.trait is Mark.COPY or not _may_have_parameters(module):
            return
        while isinstance(part, ir.Attribute):
            for ref in modules_of(self.m.semantics.evaluate(part.value).ref):
                yield from self._held.pop((ref, part.attr), ())
            part = part.value

    def _parts(self, whole: ClassInfo) -> Iterator[str]:
        """Yield the attributes of an object that hold modules on the host whose parameters are trained."""
        env = self.m.env
        names = [name for name, value in env.items() if value.ref == whole]
        making = self.m.frame.scope.name.endswith(".__init__")  # it sets no other attribute until here
        for cls in whole.lineage():
            for attribute, joined in cls.attributes.items():
                paths = (f"{name}.{attribute}" for name in names)
                part = next((env[path] for path in paths if path in env), TOP if making else joined)
                is_here = part.kind == "module" and part.place == "host" and part.trait is not Mark.COPY
                if is_here and not self._is_frozen(attribute):
                    yield attribute

    def _is_frozen(self, attribute: str) -> bool:
        """Return whether the module, or one that runs with it, freezes a part of this name."""
        others = self.m.program.others(self.m.names.module)
        return any(attribute in _frozen(module) for module in (self.m.analysis.module, *others))


@lru_cache(maxsize=64)  # each part of each optimizer's module asks again
def _frozen(module: ir.Module) -> set[str]:
    """Return the last names of what a module's code takes the gradients from: "vgg" of
    `self.vgg.requires_grad_(False)` and of `for p in self.vgg.parameters(): p.requires_grad = False`."""
    found = set()
    for node in ir.walk(module):
        match node:
            case ir.Call(func=ir.Attribute(value=owner, attr="requires_grad_")):
                found.add(path_of(owner).rpartition(".")[2])
            case ir.For(iter=walked) if any(_sets_gradient(inner) for inner in ir.walk(node)):
                found.update(n.attr for n in ir.walk(walked) if isinstance(n, ir.Attribute))
    return found


def _sets_gradient(node: ir.Node) -> bool:
    match node:
        case ir.Assign(targets=(ir.Attribute(attr="requires_grad"), *_)):
            return True
        case ir.Call(func=ir.Attribute(attr="requires_grad_")):
            return True
    return False


def _may_have_parameters(module: AbstractValue) -> bool:
    """Return whether a module may have parameters, of its own or of its parts."""
    waiting, seen = [module], set[int]()
    for one in waiting:  # it grows
        if isinstance(one.trait, TorchModule):
            held = [part for part in (*(one.items or ()), one.element) if part is not None]
            if has_parameters(one) or (holds_others(one) and not held):
                return True
            waiting += held
        elif not isinstance(one.ref, ClassInfo):
            return True
        elif id(one.ref) not in seen:
            seen.add(id(one.ref))
            for cls in one.ref.lineage():
                values = cls.attributes.values()
                if any(value.trait is Mark.PARAMETER for value in values):
                    return True
                waiting += [value for value in values if value.kind == "module"]
    return False
