"""Optimizers that a Lightning module is given: `Trainer.fit` moves the module before it asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ModuleMove
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, AbstractValue, LibraryObject
from xlamig.flow.interp.frames import ClassInfo, inherits
from xlamig.flow.interp.moved_with import reason_of
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_ASKED = "configure_optimizers"


def note_fit(m: State, moves: Moves, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> None:
    """Record that a trainer moves a module after an optimizer was made for it that the module only hands
    over: no training updates the new parameters."""
    if owner.trait != LibraryObject("framework") or name not in table.names("modules", "fits") or m.swaps:
        return
    module = args.get(0, "model")
    if module is None or not inherits(module, "LightningModule") or not _hands_over(module):
        return
    for holder in moves.dependants(module, node):
        via, _, held_as, _ = holder
        if via != "optimizer":
            continue
        why = reason_of(m, holder)
        path = path_of(node.args[0].value) if node.args else ""
        m.record(ModuleMove, node, LIKELY, (why,), related=(why,), via="fit", module=path, optimizer=held_as)


def _hands_over(module: AbstractValue) -> bool:
    """Return whether `configure_optimizers` mentions an attribute that holds an optimizer, and makes none."""
    assert isinstance(module.ref, ClassInfo)
    every = module.ref.lineage()
    method = next((cls.methods[_ASKED] for cls in every if _ASKED in cls.methods), None)
    if method is None or any(_makes(part) for part in ir.walk(method)):
        return False
    held = (cls.attributes.get(name) for name in _own_attributes(method) for cls in every)
    return any(thing is not None and thing.kind == "optimizer" for thing in held)


def _own_attributes(method: ir.Node) -> Iterator[str]:
    for part in ir.walk(method):
        if isinstance(part, ir.Attribute) and path_of(part) == f"self.{part.attr}":
            yield part.attr


def _makes(part: ir.Node) -> bool:
    """Return whether an expression asks for parameters, as of which an optimizer is made."""
    return isinstance(part, ir.Attribute) and part.attr in ("parameters", "named_parameters")
