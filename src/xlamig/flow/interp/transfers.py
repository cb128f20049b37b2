"""Tensors that go to a device or to the host."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Transfer, Why
from xlamig.flow.interp.apart import is_left
from xlamig.flow.interp.arguments import TYPE_NAME, Args, destination, dtype_of
from xlamig.flow.interp.carried_names import names_in
from xlamig.flow.interp.domain import (
    CERTAIN,
    LIKELY,
    MISSING,
    ON_HOST,
    POSSIBLE,
    AbstractValue,
    Made,
    Mark,
)
from xlamig.flow.interp.domain.shapes import has_same_shape
from xlamig.flow.interp.frames import STEPS
from xlamig.flow.interp.kept import carried_trait
from xlamig.flow.interp.reads import Reads, is_constant, sureness
from xlamig.flow.interp.sizes import VARIED, Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.stored_moves import stays_moved
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of


class Transfers:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes

    def move(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the tensor that `.to(...)` or `.cuda()` gives."""
        if name == "type" and not args.all:
            return AbstractValue("text", owner.place, sure=owner.sure, ref=TYPE_NAME)
        target = destination(name, args)
        dtype = dtype_of(args)
        given = args.get(0)
        sparse = owner.trait if owner.trait is Mark.SPARSE else None
        type_name = given is not None and given.ref == TYPE_NAME and sureness(given) > POSSIBLE
        self.m.prove(node, sparse=sparse is not None, type_name=type_name)
        if target is None:
            trait = owner.trait if sparse or owner.trait is Mark.NAN else carried_trait("to", owner)
            somewhere = name == "type" and given is not None and given.kind == "unknown"
            place = "either" if somewhere else owner.place
            return owner.replace(place=place, dtype=dtype or owner.dtype, trait=trait)
        if target.place == "host":
            if target.trait is Mark.ASKED and owner.trait is Mark.MIXED:
                return owner
            follows = target.trait is Mark.ASKED and owner.place == "either"  # to where another tensor is
            if sureness(owner) and not follows:
                assert isinstance(node.func, ir.Attribute)
                self.reads.host(node, owner, "copy", f"Tensor.{name}", node.func.value)
            sure = max(owner.sure, target.sure)
            return owner.replace(place="host", sure=sure, trait=sparse, const=MISSING, why=())
        sure = min(CERTAIN if owner.place else LIKELY, target.sure)
        if owner.place == "host":
            self.m.effects.add(Effect.TRANSFER)
            self._record(owner, node)
            self.sizes.moved(owner, node)
            if owner.cause == VARIED:
                owner = owner.replace(cause="", ref=None, why=())
        self.m.work("device", queued=owner.place == "device" and bool(dtype))
        span = (node.start, node.end)
        why = Why(f"`{short(self.m.source(node))}` is on the device", span)
        moved = owner.replace(
            place="device",
            sure=sure if not owner.loose else min(sure, owner.sure + 1),
            dtype=dtype or owner.dtype,
            trait=sparse,
            const=ON_HOST if owner.place in ("host", "") or self._is_iterated(node, owner) else owner.const,
            why=(*owner.why[-3:], why),
        )
        if owner.loose:
            move_in_place(self.m, node, moved)
        return moved

    def _is_iterated(self, node: ir.Call, owner: AbstractValue) -> bool:
        """Return whether a loop takes a tensor from something of which nothing is known, and moves it: a
        batch, which is on the host."""
        return owner.place == "either" and is_of_loop_target(self.m, node)

    def _record(self, owner: AbstractValue, node: ir.Call) -> None:
        assert isinstance(node.func, ir.Attribute)
        via = ""
        made_here = isinstance(owner.ref, Made)  # what a tokenizer or a reader of files returns
        if owner.trait is Mark.BATCH or (owner.loose and not made_here):
            via = "batch"
        elif owner.trait is Mark.LEAF:
            via = "leaf"
        elif is_constant(owner) and not stays_moved(node, self.m.statement, self.m.frame.scope):
            via = "constant"
        if via and self.m.frequency == "step":
            self.m.record(
                Transfer,
                node,
                min(owner.sure, LIKELY),
                owner.why,
                via=via,
                operation=f"Tensor.{node.func.attr}",
                tensor=short(self.m.source(node.func.value)),
                loop=self._innermost_loop(),
            )

    def _innermost_loop(self) -> str:
        """Return the kind of the innermost loop of steps that runs, here or in a caller."""
        around = [loop.kind for loop in self.m.loops if loop.kind in STEPS]
        return around[-1] if around else ""

    def record_copy(self, owner: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """Record `x.copy_(source)` between the host and the device; return `x` with other values."""
        assert isinstance(node.func, ir.Attribute)
        source = args.get(0, "src")
        if source is not None and source.place == "device" and is_left(node.func.value, owner):
            self.reads.host(node, source, "copy", "Tensor.copy_", args.pairs[0][0].value)
        if (
            source is not None
            and source.kind == "tensor"
            and source.place == "host"
            and owner.place == "device"
            and not has_same_shape(owner.shape, source.shape)
        ):
            self.m.record(
                Transfer,
                node,
                min(source.sure, owner.sure, LIKELY),
                owner.why,
                via="copy",
                operation="Tensor.copy_",
                tensor=short(self.m.source(args.pairs[0][0].value)) if args.pairs else "",
            )
        if owner.on_host:
            owner = owner.replace(const=MISSING)
            if path := path_of(node.func.value):
                self.m.put(path, owner)
        return owner


def is_of_loop_target(m: State, node: ir.Call) -> bool:
    """Return whether a method is called of what the innermost loop goes over."""
    assert isinstance(node.func, ir.Attribute)
    loop = m.loops[-1].node if m.loops else None
    return isinstance(loop, ir.For) and path_of(node.func.value) in names_in(loop.target)


def move_in_place(m: State, node: ir.Call, moved: AbstractValue) -> None:
    """Move a batch that is an object of its own where nothing takes the result: `batch.to(device)`."""
    assert isinstance(node.func, ir.Attribute)
    path = path_of(node.func.value)
    if path and isinstance(m.statement, ir.ExprStmt) and m.statement.value is node:
        m.put(path, moved)
