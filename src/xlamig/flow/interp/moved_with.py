"""The modules that move together with a larger one, and what may hold its parameters by then."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark
from xlamig.flow.interp.frames import ClassInfo, modules_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

Holder = tuple[str, ir.Node, str, str]
"""How something holds the parameters of a module, where, under which name, and the file."""
_MESSAGES = {
    "optimizer": "the optimizer is created here, with the parameters before the move",
    "tie": "the weights are tied here",
    "hook": "the hook is set here",
    "attribute": "the attribute is set here",
    "list": "the parameters are collected here",
}


def reason_of(m: State, holder: Holder) -> Why:
    """Return the reason that a move leaves what holds the parameters behind."""
    via, at, _, filename = holder
    return Why(_MESSAGES[via], (at.start, at.end), "" if filename == m.filename else filename)


def move_arguments(m: State, parts: Iterable[AbstractValue], node: ir.Call) -> None:
    """Put the modules of names that a module was made with on the device, as `encoder` of
    `Autoencoder(encoder).to(device)`: those that are among its `parts`, of which the first is the module
    itself. `node` is the move."""
    made = _made(m, node)
    paths = [path_of(arg.value) for arg in made.args] if made is not None else []
    given = [(path, m.env[path]) for path in paths if path in m.env and m.env[path].kind == "module"]
    if not given:
        return
    whole, *inner = parts
    if whole.trait is Mark.COPY:
        return
    refs = {ref for part in inner for ref in modules_of(part.ref)}
    why = Why(f"`{short(m.source(node))}` is on the device", (node.start, node.end))
    for path, module in given:
        held = module.ref is not None and refs.issuperset(modules_of(module.ref))
        if held and module.place in ("host", "either"):
            m.put(path, module.replace(place="device", why=(why,)))


def _made(m: State, node: ir.Call) -> ir.Call | None:
    """Return the call that made what another call moves, if it is known."""
    whole = node.func.value if isinstance(node.func, ir.Attribute) else None
    if whole is not None and (path := path_of(whole)):
        bound = m.frame.scope.find(path)
        whole = bound[0].value if len(bound) == 1 else None
    return whole if isinstance(whole, ir.Call) else None


def is_made_later(m: State, module: AbstractValue, path: str, holder: Holder) -> bool:
    """Return whether an optimizer cannot hold the parameters of a module that moves itself in `__init__`:
    it is made in a method of the class that no `__init__` of it calls."""
    via, at, _, filename = holder
    if via != "optimizer" or path != "self" or not m.frame.scope.name.endswith(".__init__"):
        return False
    for info in modules_of(module.ref):
        lineage = info.lineage() if isinstance(info, ClassInfo) else []
        for cls in lineage:
            if _filename(m, cls) == filename and ir.encloses(cls.node, at):
                around = [method for method in cls.methods.values() if ir.encloses(method, at)]
                return bool(around) and around[0].name not in _called_when_made(lineage)
    return False


def _filename(m: State, cls: ClassInfo) -> str:
    home = cls.frame.home
    return m.filename if home == m.names.module else m.program.home(home).filename


def _called_when_made(lineage: Iterable[ClassInfo]) -> set[str]:
    """Return the names of the methods that run while an object is made, as far as names can tell."""
    found, waiting = {"__init__"}, ["__init__"]
    while waiting:
        name = waiting.pop()
        for method in (cls.methods[name] for cls in lineage if name in cls.methods):
            names = {node.attr for node in ir.walk(method) if isinstance(node, ir.Attribute)} - found
            waiting += names
            found |= names
    return found


def is_host_value(owner: AbstractValue, value: AbstractValue) -> bool:
    """Return whether a tensor of the device is given the data of one that is made on the host."""
    on_device = owner.place == "device" and owner.sure >= LIKELY
    return on_device and value.kind == "tensor" and value.place == "host" and value.sure >= LIKELY
