"""Host reads, and numbers that are baked into a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlamig import ir
from xlamig.facts import ChangingPath, DynamicShape, Fact, HostRead, Transfer, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.blocks import is_of_block
from xlamig.flow.interp.domain import (
    LIKELY,
    OF_NUMBERS,
    POSSIBLE,
    AbstractValue,
    Carried,
    Cause,
    Mark,
    element_of,
)
from xlamig.flow.interp.element_reads import ElementReads
from xlamig.flow.interp.frames import STEPS
from xlamig.flow.interp.kept_reads import is_kept
from xlamig.flow.interp.loop_kinds import may_work
from xlamig.flow.interp.moved_later import is_moved_later
from xlamig.flow.interp.number_first import as_number
from xlamig.flow.interp.number_origins import CAUSES, kept_number, longest_of_lengths
from xlamig.flow.interp.one_rank import OneRank
from xlamig.flow.interp.shown_objects import make_text
from xlamig.flow.interp.state import State
from xlamig.flow.interp.unread import unread
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short

_OVER = ("parameters", "state-dict")
SIZES: Mapping[str, Cause] = {"dynamic": "derived", "growing": "length", "varied": "batch"}
"""The cause of a changing size, by what the shape depends on."""
VALUE_SIZES = frozenset({"read", "derived"})
"""The origins of value-dependent numbers: read from a tensor, or a size of one with such a shape."""


def keeps(cause: str, dimension: object) -> bool:
    """Return whether a dimension has the same size whatever was selected: that is done along the first."""
    return cause == "derived" and isinstance(dimension, int) and dimension > 0


class Reads:
    def __init__(self, state: State) -> None:
        self.m = state
        self.one_rank = OneRank(state)
        self.elements = ElementReads(state)

    def host(
        self, node: ir.Node, thing: AbstractValue, via: str, operation: str, of: ir.Node | None = None
    ) -> None:
        """Says that a value is needed in Python, if it is on the device."""
        if thing.kind == "tensor" and not thing.why and is_moved_later(self.m, of or node):
            thing = thing.replace(sure=POSSIBLE)
        sure = sureness(thing)
        if thing.kind != "tensor" or not sure:
            return
        m = self.m
        if sure > POSSIBLE:
            m.read(*(() if is_kept(m, of or node) else (Effect.RESULT_READ,)))
        else:
            m.effects.add(Effect.POSSIBLE_READ)
        m.wait()
        self.one_rank.record_read(node, thing)
        over = next((word for word in reversed(m.iteration_sources) if word in _OVER), "")
        part = of if of is not None else node
        if source := "" if over else self.elements.tensor(part):
            over = "elements"
        elif not over and self.elements.is_unchanged(part):
            over = "same"
        self._told(node, thing, via, operation, part, over, source)

    def arrays(self, args: Args, operation: str) -> None:
        """Record the tensors of the device that a library makes NumPy arrays of, which raises."""
        for arg, thing in args.pairs:
            if not thing.loose:
                self.array(arg.value, thing, operation)

    def lists_as_arrays(self, args: Args, operation: str) -> None:
        """Record the lists of tensors of the device that a library makes NumPy arrays of, which raises."""
        for arg, thing in args.pairs:
            held = None if arg.star else _listed_tensor(arg.value, thing)
            if held is not None and not self.m.without_tensors:
                self._told(arg.value, held, "array", operation, arg.value, "list")

    def array(self, node: ir.Expr, thing: AbstractValue, operation: str) -> None:
        """Record that an array is made of a tensor of the device, which raises."""
        on_device = thing.kind == "tensor" and thing.place == "device" and thing.sure > POSSIBLE
        if on_device and not self.m.without_tensors:
            self._told(node, thing, "array", operation, node, "")

    def checked(self, node: ir.Node, thing: AbstractValue, operation: str, text: str) -> None:
        """Record that the answer of a check of a tensor is read, where the tensor is `text`."""
        self.m.read(Effect.RESULT_READ) if thing.sure > POSSIBLE else self.m.effects.add(Effect.POSSIBLE_READ)
        boundary = "after" if self.m.synced else "before"
        self.m.record(
            HostRead,
            node,
            thing.sure,
            thing.why,
            via="check",
            operation=operation,
            tensor=text,
            boundary=boundary,
        )

    def rows(self, node: ir.Expr, thing: AbstractValue) -> None:
        """`for t, h, w in grid:` whose iterations read on the host: each number is read by itself."""
        if thing.kind == "tensor" and not thing.loose and sureness(thing):
            self._told(node, thing, "number", "for", node, "rows")

    def _told(
        self,
        node: ir.Node,
        thing: AbstractValue,
        via: str,
        operation: str,
        of: ir.Node,
        over: str,
        source: str = "",
    ) -> None:
        self.m.record(
            HostRead,
            node,
            sureness(thing),
            thing.why,
            via=via,
            operation=operation,
            tensor=short(self.m.source(of)),
            boundary="after" if self.m.synced else "before",
            over=over,
            source=source,
            origin="host" if thing.on_host else "",
            loop=self._loop_around(node),
            holds="numbers" if thing.const is OF_NUMBERS else "",
            counted=via == "copy" and thing.kind == "tensor" and thing.cause == "dynamic",
            kept=kept_number(self.m, of),
            longest=longest_of_lengths(self.m, of),
        )

    def _loop_around(self, node: ir.Node) -> str:
        """Return the kind of the innermost loop of steps that a node stands in itself; a loop over batches
        inside a step, such as a test after each step over all data, is one of evaluation."""
        loops = self.m.loops_around(node)
        around = [loop.kind for loop in loops if loop.kind in STEPS]
        inner = "evaluation" if any(loop.rolls and loop.loads for loop in loops) else ""
        return around[-1] if around else inner

    def sent(self, left: AbstractValue, right: AbstractValue, node: ir.Node) -> None:
        """A constant of the host meets a tensor of the device."""
        for side, name in ((left, "left"), (right, "right")):
            part = getattr(node, name, node)
            if side.place == "host" and is_constant(side) and not side.scalar:
                text = short(self.m.source(part))
                self.m.record(
                    Transfer, part, LIKELY, side.why, via="constant", operation="an operator", tensor=text
                )

    def branched(
        self, node: ir.Expr, thing: AbstractValue, leaves: bool = False, alike: bool = False
    ) -> None:
        """A random choice: one makes two graphs, each compiled once; one in every iteration, or in each of
        several blocks, makes many. One that only `leaves` the iteration does where the loop works on the
        device. `alike`: it is between two tensors of one shape."""
        m = self.m
        m.prove(node, both_tensors=alike)
        inside = not m.first_pass and thing.loop and m.loops and m.loops[-1].id == thing.loop
        many = inside and m.loops[-1].kind in ("plain", "graph-breaking")
        if many and leaves:
            many = may_work(m, m.loops[-1])
        many = many or is_of_block(m)
        if m.frequency == "step":
            m.record(
                ChangingPath, node, LIKELY if many else POSSIBLE, thing.why, via="branch", cause="random"
            )

    def formatted(self, part: ir.Node, thing: AbstractValue, operation: str, node: ir.Node) -> None:
        """Something is made text of."""
        for container in ("sequence", "mapping"):
            thing = element_of(thing) if thing.kind == container else thing
        if thing.kind == "tensor":
            self.host(part, thing, "log" if self.m.logging else "format", operation, part)
        elif thing.kind == "instance":
            make_text(self.m, thing)

    def membership(self, node: ir.Compare, left: AbstractValue, right: AbstractValue) -> None:
        """`x in y`: the tensor is compared with each element, and each answer is read; not by a set. No
        tensor holds a string."""
        if isinstance(left.const, str) or (right.kind == "sequence" and element_of(right).kind == "text"):
            return  # a key of a mapping of tensors is among texts
        if right.kind == "tensor" and (not right.loose or left.kind == "number"):  # keys are texts
            self.host(node, right, "builtin", "in", node.comparators[0])
        elif left.kind == "tensor" and right.kind == "sequence" and right.trait is not Mark.SET:
            self.host(node, as_number(node.left, left), "builtin", "in", node.left)

    # Any: each kind of fact has its own fields
    def changing(self, node: ir.Node, number: AbstractValue, fact: type[Fact], /, **fields: Any) -> bool:
        """Says that a number that differs between graph runs is baked in."""
        active = not number.loop or any(loop.id == number.loop for loop in self.m.loops)
        if not number.cause or number.cause == "dynamic" or not active or number.kind != "number":
            return False
        each_call = number.cause == "batch"  # whoever calls, it is with the lengths of a batch
        if self.m.frequency not in ("step", "interval") and not number.loop and not each_call:
            return False
        why = Why(
            f"`{fields.get('number') or short(self.m.source(node))}` {CAUSES.get(number.cause, 'changes')}",
            (node.start, node.end),
        )
        self.m.record(fact, node, number.sure, (*number.why, why), cause=number.cause, **fields)
        return True

    def followed(self, part: ir.Node, index: AbstractValue, operation: str, tensor: str = "") -> None:
        """Says that as much is taken or written as an index has elements, which the values decide."""
        number = AbstractValue("number", cause="derived", sure=index.sure, why=index.why)
        self.sized(part, part, number, sureness(index), operation, tensor)

    def sized(
        self,
        node: ir.Node,
        size: ir.Node,
        number: AbstractValue,
        sure: int,
        operation: str,
        tensor: str = "",
        read: str = "",
    ) -> None:
        """Record that a size depends on the values of tensors. It may be the same each time; `read` is "here"
        if the size is such a tensor itself."""
        text = short(self.m.source(size))
        why = Why(f"`{text}` depends on the values of a tensor", (size.start, size.end))
        sure = min(sure, number.sure, LIKELY)
        via = "derived" if number.cause == "derived" else "size"
        source = self.elements.tensor(size)
        self.m.record(
            DynamicShape,
            node,
            sure,
            (*number.why, why),
            via=via,
            operation=operation,
            tensor=tensor,
            mask=text,
            unread=short(unread(size, self.m.source)),
            source=source,
            read=read,
            longest=longest_of_lengths(self.m, size),
        )


def _listed_tensor(node: ir.Expr, thing: AbstractValue, depth: int = 2) -> AbstractValue | None:
    """Return a tensor of the device that a list holds; None where it holds none for sure. Of a set, of a
    generator and of a view of a dictionary NumPy makes one object, which reads no tensor."""
    match node:
        case ir.Call(func=ir.Attribute(attr="values" | "items")) | ir.Comprehension(kind="generator"):
            return None
    if thing.kind != "sequence" or thing.trait is Mark.SET:
        return None
    for item in thing.items if thing.items is not None else (element_of(thing),):
        if item.kind == "tensor" and not item.loose and item.place == "device" and item.sure > POSSIBLE:
            return item
        if depth and (found := _listed_tensor(node, item, depth - 1)) is not None:
            return found
    return None


def sureness(thing: AbstractValue) -> int:
    """How sure it is that a tensor is on the device; 0 for one on the host."""
    match thing.place:
        case "device":
            return thing.sure
        case "host":
            return 0
        case "either":
            return min(thing.sure, LIKELY)
    return POSSIBLE


def is_constant(thing: AbstractValue) -> bool:
    """Return whether a host tensor is the same every step: written out, or kept since it was made. One
    without elements has no values to copy."""
    if thing.shape and 0 in thing.shape:
        return False
    of_numbers = thing.const is OF_NUMBERS and thing.place == "host" and thing.shape != ()
    return (
        of_numbers
        or thing.trait is Mark.CONSTANT
        or (isinstance(thing.trait, Carried) and thing.trait.is_kept and thing.place == "host")
    )
