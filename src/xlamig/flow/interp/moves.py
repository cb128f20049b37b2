"""What depends on a module's parameters when the module is moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlamig import ir
from xlamig.facts import ModuleMove, Why
from xlamig.flow.interp.things import LIKELY, Thing
from xlamig.flow.known import short

if TYPE_CHECKING:
    from xlamig.flow.interp.machine import Machine

_MESSAGES = {
    "optimizer": "the optimizer is built here, from the parameters of before",
    "tie": "the weights are tied here",
    "hook": "the hook is set here",
    "attribute": "the attribute is set here",
    "list": "the parameters are collected here",
}


class Moves:
    """Remembers by a module's identity what was made of its parameters while it was on the host."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self._held: dict[object, list[tuple[str, ir.Node, str]]] = {}

    def depends(self, module: Thing, via: str, node: ir.Node, name: str = "") -> None:
        """Something holds on to the parameters of a module."""
        if module.place == "host" and module.ref is not None:
            held = self._held.setdefault(identity(module), [])
            if all(other is not node for _, other, _ in held):
                held.append((via, node, name))

    def moved(self, module: Thing, node: ir.Call, path: str) -> None:
        """A module on the host is moved to the device."""
        if module.kind != "module" or module.place != "host":
            return
        for via, at, name in self._held.pop(identity(module), ()):
            span = (at.start, at.end)
            self.m.record(
                ModuleMove,
                node,
                min(module.sure, LIKELY) if via != "optimizer" else module.sure,
                (*module.why, Why(_MESSAGES[via], span)),
                related=(Why(_MESSAGES[via], span),),
                via=via,
                module=path,
                optimizer=name,
            )

    def attribute(self, target: ir.Attribute, owner: Thing, thing: Thing, value: ir.Expr | None) -> None:
        """`a.weight = b.weight` ties; `p.no_decay = True` marks a parameter; `p.data = p.data.to(...)`."""
        if owner.kind == "module" and target.attr == "weight" and isinstance(value, ir.Attribute):
            source = self.m.values.of(value.value)
            if value.attr == "weight" and source.kind == "module":
                self.tied(owner, target)
        elif owner.kind == "tensor" and owner.tag == "parameter" and owner.place != "device":
            if target.attr == "data":
                if thing.kind == "tensor" and thing.place == "device" and owner.place == "host":
                    text = short(self.m.source(target.value))
                    self.m.record(ModuleMove, target, LIKELY, thing.why, via="data", module=text)
            elif target.attr not in ("grad", "requires_grad") and owner.ref is not None:
                self.depends(Thing("module", "host", ref=owner.ref), "attribute", target)

    def tied(self, owner: Thing, target: ir.Node) -> None:
        """A tie of two parts of the module that is being built, or of a part and the whole."""
        self.depends(owner.but(place="host") if owner.place != "device" else owner, "tie", target)
        whole = self.m.env.get("self")
        if whole is not None and whole.kind == "module":
            self.depends(whole.but(place="host"), "tie", target)


def identity(module: Thing) -> object:
    return module.ref if isinstance(module.ref, int | str) else id(module.ref)
