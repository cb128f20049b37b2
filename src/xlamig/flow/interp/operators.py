"""Operators: what they give, and what they cost on the device."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

from xlamig import ir
from xlamig.facts import ApiUse, ChangingConstant
from xlamig.flow.interp.clocks import record_interval
from xlamig.flow.interp.domain import (
    BOOL,
    FOREIGN,
    LIKELY,
    NUMBER,
    OPTION,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    decisive,
    element_of,
    join,
    join_parameters,
    sequence,
)
from xlamig.flow.interp.domain.shapes import broadcast
from xlamig.flow.interp.joined_operands import OF_MASKS, joined_place, joined_trait, operands_of_format
from xlamig.flow.interp.lengths import LASTING, is_varied_array, joined, rounded, times
from xlamig.flow.interp.let_through import as_let_through
from xlamig.flow.interp.masks import as_mask
from xlamig.flow.interp.on_host import combined_const, const_with_number
from xlamig.flow.interp.one_rank import note_updated
from xlamig.flow.interp.operand_checks import divides_complex
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.results import dtype_with_number, joined_dtype
from xlamig.flow.interp.sizes import VARIED
from xlamig.flow.interp.slices import index_of, indexes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.texts import filled_text, joined_texts
from xlamig.flow.model.known import short

_FOLD: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_UNEQUAL = frozenset({"none", "text", "mapping", "sequence"})  # `tensor == {}` is False, without a read
_UNLIKE = {"list", "tuple"}
_CHANGING = ("random", "read", "derived", "length", "step-counter", "position", "batch")


class Operators:
    def __init__(self, state: State, reads: Reads) -> None:
        self.m = state
        self.reads = reads

    def unary(self, node: ir.Unary) -> AbstractValue:
        """Return the value of `-x`, `not x`, `~x`."""
        if node.op == "not":
            return self.m.semantics.test(node, "not")
        thing = self.m.semantics.evaluate(node.operand)
        if thing.kind == "tensor" and node.op == "~":
            thing = as_mask(self.m, node.operand, thing)
        if thing.kind == "number" and node.op == "-" and isinstance(thing.const, int | float):
            return thing.replace(const=-thing.const)
        return (
            thing.replace(trait=thing.trait if thing.trait is Mark.NAN else None)
            if thing.kind == "tensor"
            else thing
        )

    def binary(self, node: ir.Binary) -> AbstractValue:
        """Return the value of `x + y`."""
        left, right = self.m.semantics.evaluate(node.left), self.m.semantics.evaluate(node.right)
        if node.op == "-":
            record_interval(self.m, left, right)
        if node.op == "/" and divides_complex(left, right):
            text = short(self.m.source(node))
            self.m.record(ApiUse, node, LIKELY, left.why, via="operator", name="torch.div", spelled=text)
        return self.combined(node.op, left, right, node)

    def augmented(self, node: ir.AugAssign) -> None:
        """Run `x += y`."""
        old, new = self.m.semantics.evaluate(node.target), self.m.semantics.evaluate(node.value)
        if isinstance(node.target, ir.Subscript) and old.kind == "tensor":
            self.m.semantics.store(node.target, new, node.value, operator=node.op)
            return
        if old.kind == "tensor":
            note_updated(self.m, node.target, old)
        result = self.combined(node.op, old, new, node)
        if old.kind == "sequence" and node.op == "+":
            result = result.replace(trait=Mark.APPENDED)
        if (
            isinstance(node.target, ir.Attribute)
            and result.kind == "number"
            and self.m.frequency == "step"
            and new.kind == "number"
            and not new.cause
        ):
            result = result.replace(cause="step-counter", loop=0, sure=LIKELY)
        self.m.semantics.assign(node.target, result, node.value)

    def combined(self, op: str, left: AbstractValue, right: AbstractValue, node: ir.Node) -> AbstractValue:
        """Return the value of `left op right`."""
        if op == "**":
            self.m.prove(node, number_exponent=left.kind == "tensor" and right.kind == "number")
        kinds = {left.kind, right.kind}
        if op == "+" and "sequence" in kinds and _may_be_list(left) and _may_be_list(right):
            made = joined(AbstractValue("sequence", element=TOP), left, right)
            if made.cause:
                return made
        if "tensor" in kinds:
            if op == "%" and left.kind == "text":
                self.reads.formatted(node.right if isinstance(node, ir.Binary) else node, right, "%", node)
                return TEXT
            return self._of_tensors(op, left, right, node)
        if left.kind == "text" and op == "%":
            things = right.items or (right,) if right.kind == "sequence" else (right,)
            parts = operands_of_format(node, len(things))
            for part, thing in [*zip(parts, things, strict=True), *self._starred(node)]:
                self.reads.formatted(part, thing, "%", node)
            return filled_text(left, "%s", things)
        if kinds <= {"number", "bool"}:
            return self._number(op, left, right)
        if "foreign" in kinds:
            return next(filter(is_varied_array, (left, right)), _with_option(left, right))
        if kinds == {"parameters"}:
            return join_parameters((left, right))
        if "unknown" in kinds and (left.place or right.place):
            return left if left.kind == "unknown" and left.place else right
        if "number" in kinds and "unknown" in kinds:
            number = left if left.kind == "number" else right
            return number.replace(const=TOP.const, sure=min(number.sure, LIKELY)) if number.cause else TOP
        if kinds == {"sequence"}:
            return self._joined(op, left, right)
        if "sequence" in kinds and op == "*":
            held, number = (left, right) if left.kind == "sequence" else (right, left)
            made = AbstractValue("sequence", element=element_of(held), place=held.place)
            return times(made, number)
        if kinds == {"text"} and op == "+" and isinstance(right.const, str):
            return joined_texts((left, right)).replace(place=left.place)
        if "text" in kinds:
            return AbstractValue("text", place=left.place)
        return TOP

    def _starred(self, node: ir.Node) -> Iterator[tuple[ir.Node, AbstractValue]]:
        """Yield the elements of the tensors that `"..." % (x, *y)` spreads."""
        written = (
            node.right.elements if isinstance(node, ir.Binary) and isinstance(node.right, ir.Sequence) else ()
        )
        for part in written:
            if isinstance(part, ir.Starred):
                spread = self.m.semantics.evaluate(part.value)
                if spread.kind == "tensor":
                    yield part.value, self.m.semantics.iterate(spread)

    @staticmethod
    def _joined(op: str, left: AbstractValue, right: AbstractValue) -> AbstractValue:
        if op == "+" and left.items is not None and right.items is not None:
            return sequence((*left.items, *right.items))
        parts = [part for side in (left, right) for part in side.items or (element_of(side),)]
        if op == "+" and indexes(parts):
            return index_of(parts)
        made = AbstractValue("sequence", element=join(element_of(left), element_of(right)))
        return as_let_through(joined(made, left, right), left, right)

    @staticmethod
    def _number(op: str, left: AbstractValue, right: AbstractValue) -> AbstractValue:
        fold = _FOLD.get(op)
        if fold is not None and isinstance(left.const, int | float) and isinstance(right.const, int | float):
            return AbstractValue("number", const=fold(left.const, right.const))
        if "complex" in (left.dtype, right.dtype):
            return NUMBER.replace(dtype="complex")
        multiple = rounded(op, left, right)
        if multiple is not None:
            return multiple
        side = decisive(left, right)
        if side.cause:
            trait = next((s.trait for s in (side, left, right) if s.trait in LASTING), None)
            return AbstractValue(
                "number", sure=side.sure, cause=side.cause, loop=side.loop, trait=trait, why=side.why
            )
        if op == "%":
            return NUMBER.replace(trait=Mark.REMAINDER)
        return (
            AbstractValue("number", trait=Mark.LENGTH) if Mark.LENGTH in (left.trait, right.trait) else NUMBER
        )

    def _of_tensors(self, op: str, left: AbstractValue, right: AbstractValue, node: ir.Node) -> AbstractValue:
        one, other = (left, right) if left.kind == "tensor" else (right, left)
        if op == "**" and other.kind == "number":
            text = short(self.m.source(getattr(node, "right" if other is right else "left", node)))
            self.reads.changing(node, other, ChangingConstant, via="attribute", operation="**", number=text)
        if other.kind != "tensor":
            self.m.work(one.place)
            known = other.kind in ("number", "bool", "none")
            return one.replace(
                sure=one.sure if known else min(one.sure, LIKELY),
                dtype=dtype_with_number(op, one.dtype, other.dtype),
                trait=one.trait if one.trait is Mark.NAN else None,
                source=one.source if op in OF_MASKS else "",
                const=const_with_number(one, other) if known else TOP.const,
                ref=one.ref if one.cause == VARIED else None,
            )
        place, worse = joined_place(left.place, right.place), decisive(left, right)
        if place == "device" and self.m.frequency == "step":
            self.reads.sent(left, right, node)
        lead = left if left.place == place else right
        self.m.work(place)
        return AbstractValue(
            "tensor",
            place,
            sure=min(left.sure, right.sure) if place == "either" else lead.sure,
            dtype=joined_dtype(left.dtype, right.dtype),
            shape=broadcast((left.shape, right.shape)),
            cause=worse.cause,
            loop=worse.loop if worse.cause else 0,
            ref=worse.ref if worse.cause == VARIED else None,
            trait=joined_trait(op, left, right),
            source=left.source if left.source == right.source and op in OF_MASKS else "",
            const=combined_const(left, right),
            why=lead.why,
        )

    def compare(self, node: ir.Compare) -> AbstractValue:
        """Return the value of `x < y`."""
        left = self.m.semantics.evaluate(node.left)
        result: AbstractValue = BOOL
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.m.semantics.evaluate(comparator)
            result = self._compared(node, op, left, right)
            left = right
        if len(node.ops) > 1 and result.kind == "tensor":
            self.reads.host(node, result, "truth", "chained comparison")
        return result

    def _compared(
        self, node: ir.Compare, op: str, left: AbstractValue, right: AbstractValue
    ) -> AbstractValue:
        if op in ("is", "is not"):
            return BOOL
        if op in ("in", "not in"):
            self.reads.membership(node, left, right)
            return BOOL
        if left.kind == right.kind == "sequence" and op in ("==", "!=") and left.trait is not Mark.SET:
            self._read_elements(node, op, left, right)
        if "tensor" not in (left.kind, right.kind):
            changing = [side for side in (left, right) if side.cause in _CHANGING]
            if not changing:
                made = next((s for s in (left, right) if s.kind == "unknown" and s.place != "host"), TOP)
                compared = BOOL.replace(place=made.place, sure=made.sure, loose=made.loose, why=made.why)
                return compared.replace(trait=Mark.COMPARED) if made.place else BOOL
            cause = decisive(changing[0], changing[-1])
            return AbstractValue("bool", cause=cause.cause, loop=cause.loop, sure=cause.sure, why=cause.why)
        if _UNEQUAL & {left.kind, right.kind}:
            return BOOL
        tensor = self._of_tensors(op, left, right, node)
        source = self.m.source(node.left) if left.kind == "tensor" else ""
        return tensor.replace(dtype="bool", source=source, trait=None)

    def _read_elements(self, node: ir.Compare, op: str, left: AbstractValue, right: AbstractValue) -> None:
        """`x.shape == (n, 8)`: Python compares the elements in turn, and reads each answer."""
        if len(node.ops) > 1 or {_type(node.left, left), _type(node.comparators[0], right)} == _UNLIKE:
            return
        for side, other, part in ((left, right, node.left), (right, left, node.comparators[0])):
            for i, item in enumerate(side.items or (element_of(side),)):
                if item.kind == "tensor" and _opposite(other, i).kind in ("tensor", "number", "bool"):
                    at = part.elements[i] if isinstance(part, ir.Sequence) and side.items else part
                    self.reads.host(at, item, "builtin", op, at)
                    return


def _type(node: ir.Expr, thing: AbstractValue) -> str:
    """Return "list" or "tuple", which never equal each other, or "" where it may be either."""
    return node.kind if isinstance(node, ir.Sequence) else "tuple" if thing.trait is Mark.SHAPE else ""


def _opposite(thing: AbstractValue, place: int) -> AbstractValue:
    """Return what an element at a place is compared with."""
    if thing.items is None:
        return element_of(thing)
    return thing.items[place] if place < len(thing.items) else TOP


def _with_option(left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """Return what arithmetic makes of objects of libraries: options alone give an option, and options with a
    number that changes give a number that changes."""
    sides = (left, right)
    if any(side.kind not in ("number", "bool") and side.ref != OPTION.ref for side in sides):
        return FOREIGN
    number = decisive(left, right)
    if not number.cause or number.kind != "number":
        return OPTION
    return number.replace(const=TOP.const, sure=min(number.sure, LIKELY))


def _may_be_list(thing: AbstractValue) -> bool:
    return thing.kind in ("sequence", "unknown", "foreign") or thing.loose
