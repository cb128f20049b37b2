"""Host reads, and numbers that are baked into a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlamig import ir
from xlamig.facts import Fact, HostRead, Why
from xlamig.flow.interp.things import LIKELY, POSSIBLE, Thing, element_of
from xlamig.flow.known import short

if TYPE_CHECKING:
    from xlamig.flow.interp.machine import Machine

_CAUSES = {
    "step-counter": "it counts steps",
    "position": "it is another number in each round",
    "random": "it is random",
    "read": "it was read from a tensor",
    "length": "it is the length of something that grows",
}

SIZES = {"dynamic": "read", "growing": "length"}
"""What makes a size of a tensor change, by what its shape depends on."""


class Reads:
    def __init__(self, machine: Machine) -> None:
        self.m = machine

    def host(
        self, node: ir.Node, thing: Thing, via: str, operation: str, of: ir.Node | None = None, over: str = ""
    ) -> None:
        """Says that a value is needed in Python, if it is on the device."""
        sure = sureness(thing)
        if thing.kind != "tensor" or not sure:
            return
        m = self.m
        m.effects.add("read" if sure > POSSIBLE else "read?")
        tensor = short(m.source(of if of is not None else node))
        m.record(
            HostRead,
            node,
            sure,
            thing.why,
            via=via,
            operation=operation,
            tensor=tensor,
            boundary="after" if m.synced else "before",
            over=over or ("parameters" if thing.tag == "parameter" else ""),
        )

    def formatted(self, part: ir.Node, thing: Thing, operation: str, node: ir.Node) -> None:
        """Something is made text of."""
        if thing.kind == "sequence":
            thing = element_of(thing)
        if thing.kind == "mapping":
            thing = element_of(thing)
        if thing.kind == "tensor":
            self.host(part, thing, "format", operation, part)

    def membership(self, node: ir.Compare, left: Thing, right: Thing) -> None:
        """`x in y`: the tensor is compared with each element, and each answer is read."""
        if right.kind == "tensor" and not (right.loose and left.kind == "text"):
            self.host(node, right, "builtin", "in", node.comparators[0])
        elif left.kind == "tensor" and right.kind == "sequence":
            self.host(node, left, "builtin", "in", node.left)

    def changing(self, node: ir.Node, number: Thing, fact: type[Fact], /, **fields: Any) -> bool:
        """Says that a number that differs between graph runs is baked in."""
        active = not number.loop or any(loop.id == number.loop for loop in self.m.loops)
        if not number.cause or number.cause == "dynamic" or not active or number.kind != "number":
            return False
        if self.m.frequency not in ("step", "interval") and not number.loop:
            return False
        why = Why(
            f"`{short(self.m.source(node))}`: {_CAUSES.get(number.cause, 'it changes')}",
            (node.start, node.end),
        )
        self.m.record(fact, node, number.sure, (*number.why, why), cause=number.cause, **fields)
        return True


def sureness(thing: Thing) -> int:
    """How sure it is that a tensor is on the device; 0 for one on the host."""
    match thing.place:
        case "device":
            return thing.sure
        case "host":
            return 0
        case "either":
            return min(thing.sure, LIKELY)
    return POSSIBLE
