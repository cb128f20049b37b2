"""Tensors of the host whose shapes differ from batch to batch: how that comes about, and where it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xlamig import ir
from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    LIKELY,
    POSSIBLE,
    TOP,
    AbstractValue,
    Made,
    Mark,
    element_of,
    sequence,
)
from xlamig.flow.interp.lengths import Lengths, is_longest, is_varied_array, varies
from xlamig.flow.interp.let_through import is_let_through, record_let_through
from xlamig.flow.interp.number_origins import longest_of_lengths
from xlamig.flow.interp.reads import sureness
from xlamig.flow.model.known import short
from xlamig.knowledge import values as table

TEXT: Final = "tokenizer"
"""The operation that makes a tensor of a text, which has a length of its own."""
VARIED: Final = "varied"
"""The cause of a tensor of the host whose shape is another one for each sample or batch."""
_JOINS = (("torch", "stack"), ("torch", "concat"), ("sizes", "from-lists"))


class Sizes(Lengths):
    """A varied tensor has as `ref` the node, statement and operation that made it what it is."""

    # ------------------------------------------------------------------ tensors

    def may_repeat_zero(self, operands: list[AbstractValue], args: Args) -> bool:
        """Return whether a tensor of the device is repeated 0 times, or as often as a remainder says that
        nothing tests."""
        if not operands or sureness(operands[0]) <= POSSIBLE:
            return False
        tested = bool(self.m.taken_branches)
        counts = args.positional[0].items or args.positional if args.positional else ()
        return any(n.const == 0 or (n.trait is Mark.REMAINDER and not tested) for n in counts)

    def shaped(
        self,
        result: AbstractValue,
        last: str,
        owner: AbstractValue | None,
        operands: list[AbstractValue],
        args: Args,
        node: ir.Call,
    ) -> AbstractValue:
        """The result of an operation on the host, which may have a shape of its own each time."""
        plain = last.rstrip("_")
        first = args.get(0)
        lengths = owner or first
        if lengths is not None and lengths.trait is Mark.LENGTHS and lengths.place == "host":
            result = self._of_lengths(result, plain)
        if result.kind == "tensor" and result.scalar and longest_of_lengths(self.m, node):
            result = result.replace(trait=Mark.LONGEST)
        if result.place == "device" and owner is None and first is not None:
            self.listed(plain, first, node)
        if result.kind == "tensor" and result.place != "host" and owner is None and first is not None:
            joins = any(plain in table.names(*of) for of in _JOINS)
            if joins and record_let_through(self.m, node, first, plain):
                result = result.replace(cause="dynamic")
        if self.m.collating and result.kind == "tensor" and not result.place:
            result = result.replace(place="host")
        if result.kind == "tensor" and result.place == "either" and owner is None and first is not None:
            result = self._beside(result, plain, first)
        if result.kind != "tensor" or result.place != "host":
            return result
        if plain in table.names("sizes", "random") and owner is None:
            return result.replace(trait=Mark.DRAWN)
        if result.scalar:
            return result
        if owner is None and first is not None and first.kind == "sequence":
            return self._of_sequence(result, plain, first, node)
        if owner is None and first is not None and is_varied_array(first):
            return self._of_array(result, plain, first, node)
        if plain in table.names("sizes", "by-values") or (
            plain == "repeat_interleave" and any(arg.kind == "tensor" for arg in args.all[owner is None :])
        ):
            return self.marked(result, last, node) if self.m.batching else result
        if plain == "pad":
            return self._padded(result, args.get(0 if owner is not None else 1, "pad") or TOP, operands, node)
        given = len(args.positional) - (owner is None)
        reduced = plain in table.names("torch", "reductions") and (given > 0 or bool(args.keywords))
        if plain in table.names("sizes", "fixing") or reduced:
            return result
        return self._kept(result, operands)

    @staticmethod
    def _beside(result: AbstractValue, plain: str, given: AbstractValue) -> AbstractValue:
        """Return the result of joining tensors of unknown place and padding of the host: all are there."""
        joins = plain in table.names("torch", "concat") or plain in table.names("torch", "stack")
        held = given.items or (element_of(given),) if given.kind == "sequence" and joins else ()
        on_host = any(t.kind == "tensor" and t.place == "host" and t.cause == VARIED for t in held)
        return result.replace(place="host") if on_host else result

    @staticmethod
    def _of_lengths(result: AbstractValue, plain: str) -> AbstractValue:
        """The greatest of several lengths, or the lengths in order."""
        if plain == "max" and result.scalar:
            return result.replace(trait=Mark.LONGEST)
        if plain == "sort" and result.kind == "sequence" and result.items:
            values, order = result.items
            return sequence((values.replace(trait=Mark.BY_LENGTH), order))
        return result

    def converted(self, made: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the host tensor of `torch.from_numpy(...)`, or of `torch.LongTensor(n, m)`."""
        for number in args.positional if name != "torch.from_numpy" else ():
            number = self.read(number, node) or number if number.kind == "tensor" else number
            self.sized(made, number, name, node)
        return self.shaped(made, name.rpartition(".")[2], None, [], args, node)

    def _of_array(
        self, result: AbstractValue, plain: str, array: AbstractValue, node: ir.Node
    ) -> AbstractValue:
        """Return the tensor made of an array that is as long as the longest sample."""
        if plain not in table.names("sizes", "from-lists"):
            return result
        made = self.marked(result.replace(why=array.why), plain, node)
        if array.trait is not Mark.LONGEST:
            return made
        self.collated(made)
        return made.replace(trait=Mark.LONGEST)

    @staticmethod
    def _kept(result: AbstractValue, operands: list[AbstractValue]) -> AbstractValue:
        lead = next((o for o in operands if o.cause == VARIED and o.place == "host"), None)
        if lead is None:
            return result
        return result.replace(
            cause=VARIED, ref=lead.ref, why=lead.why, trait=lead.trait if lead.trait is Mark.LONGEST else None
        )

    def _of_sequence(
        self, result: AbstractValue, plain: str, given: AbstractValue, node: ir.Node
    ) -> AbstractValue:
        """`torch.cat([g.x for g in graphs])`, `torch.tensor([s + [PAD] * n for s in batch])`"""
        held: Sequence[AbstractValue] = given.items or (element_of(given),)
        arrays = [thing for thing in held if is_varied_array(thing)]
        if arrays:
            return self._of_array(result, plain, arrays[0], node)
        alike = plain in table.names("sizes", "of-one-shape")
        joins = alike or plain in table.names("torch", "concat") or plain in table.names("sizes", "joins")
        varied = [t for t in held if t.cause == VARIED and (t.trait is Mark.LONGEST or not alike)]
        if varies(given) or is_let_through(given) or (joins and varied):
            lead = given if varies(given) or is_let_through(given) else varied[0]
            made = self._made_of(result, lead, plain, node)
            if any(thing.trait is Mark.LONGEST for thing in (given, *held)):
                self.collated(made)
                made = made.replace(trait=Mark.LONGEST)
            return made
        if plain in table.names("sizes", "from-lists"):
            lists = [thing for thing in held if varies(thing)]
            if lists and all(thing.kind == "sequence" for thing in held):
                made = self._made_of(result, lists[0], plain, node)
                if any(thing.trait is Mark.LONGEST for thing in held):
                    self.collated(made)
                return made
            if all(thing.trait is Mark.LENGTH for thing in held):
                return result.replace(trait=Mark.LENGTHS)
        return result

    def _made_of(
        self, result: AbstractValue, lead: AbstractValue, operation: str, node: ir.Node
    ) -> AbstractValue:
        """Return the tensor made of something whose length differs."""
        text = self.m.frequency == "unknown" and not self.m.batching
        return self.marked(result.replace(why=lead.why), TEXT if text else operation, node)

    def _padded(
        self, result: AbstractValue, amounts: AbstractValue, operands: list[AbstractValue], node: ir.Node
    ) -> AbstractValue:
        """By what is missing to a constant, or to the longest of the batch."""
        varied = [part for part in amounts.items or (amounts,) if varies(part)]
        longest = next((part for part in varied if part.trait is Mark.LONGEST), None)
        if longest is not None:
            return self.marked(result.replace(why=longest.why), "pad", node).replace(trait=Mark.LONGEST)
        missing = any(part.trait is Mark.LENGTH for part in amounts.items or (amounts,))
        return result if varied or missing else self._kept(result, operands)

    def sized(self, result: AbstractValue, number: AbstractValue, operation: str, node: ir.Node) -> None:
        """`torch.zeros(n)` on the host, of another size for each sample."""
        padded = operation.endswith("pad")  # by as much as is missing, mostly
        if result.kind == "tensor" and result.place == "host" and varies(number) and not padded:
            made = self._made_of(result, number, operation.rpartition(".")[2], node)
            result.cause, result.ref, result.why, result.sure = made.cause, made.ref, made.why, made.sure
            result.trait = Mark.LONGEST if is_longest(number) else None
            if result.trait:
                self.collated(made)

    def picked(
        self, base: AbstractValue, result: AbstractValue, index: list[AbstractValue], node: ir.Subscript
    ) -> AbstractValue:
        """Return the element or slice of a host tensor at an index."""
        if base.place != "host":
            return result
        if base.trait is Mark.BY_LENGTH and len(index) == 1 and index[0].const in (0, -1):
            return result.replace(trait=Mark.LONGEST, shape=())
        if any(part.kind == "tensor" and part.dtype == "bool" for part in index) and self.m.batching:
            return self.marked(result, "[]", node)
        bounds = [part.items for part in index if part.trait is Mark.SLICE and part.items]
        cut = [(varies(lower), varies(upper)) for lower, upper, _ in bounds]
        if self._is_drawn_wide(node):
            return self.marked(result, "[]", node)
        if any(lower != upper for lower, upper in cut):  # of `x[i : i + n]` the ends move together
            return self.marked(result, "[]", node)
        whole = all(bound.kind == "none" for ends in bounds for bound in ends)
        same = all(part.trait is Mark.SLICE or part.kind in ("none", "text") for part in index)
        if base.cause == VARIED and (not whole or not same):
            return result.replace(cause="", ref=None)
        return result.replace(ref=base.ref) if base.cause == VARIED else result

    def _is_drawn_wide(self, node: ir.Subscript) -> bool:
        """Return whether the `n` of `x[i : i + n]` is drawn."""
        for part in node.index:
            match part:
                case ir.Slice(lower=ir.Expr() as lower, upper=ir.Binary(op="+", left=left, right=width)):
                    if self.m.source(lower) == self.m.source(left) and varies(
                        self.m.semantics.evaluate(width)
                    ):
                        return True
        return False

    def marked(self, result: AbstractValue, operation: str, node: ir.Node) -> AbstractValue:
        """Return a result whose shape differs from sample to sample, with the place as reason."""
        text = short(self.m.source(node))
        why = Why(f"`{text}` differs in shape per sample or batch", (node.start, node.end))
        made = Made(node, self.m.statement, operation)
        return result.replace(
            cause=VARIED, sure=min(result.sure, LIKELY), ref=made, why=(*result.why[-2:], why), trait=None
        )

    # ------------------------------------------------------------------ what it costs

    def listed(self, plain: str, given: AbstractValue, node: ir.Node) -> None:
        """`torch.stack(log_probs)`, `torch.tensor(rewards, device=device)` of a list with another length in
        each step."""
        takes = plain in table.names("torch", "stack") or plain in table.names("sizes", "from-lists")
        often = self.m.frequency == "step" or (self.m.frequency == "unknown" and given.trait is Mark.SAMPLE)
        if takes and given.kind == "sequence" and varies(given) and often:
            self._told(node, self.m.statement, plain, LIKELY, given.why)

    def collated(self, tensor: AbstractValue) -> None:
        """A collate function makes batches as long as their longest sample."""
        if self.m.collating and isinstance(tensor.ref, Made):
            self._told(*tensor.ref, LIKELY, tensor.why)

    def moved(self, tensor: AbstractValue, node: ir.Call) -> None:
        """Such a tensor is put on the device every step."""
        if tensor.cause != VARIED or not isinstance(tensor.ref, Made):
            return
        request = self.m.frequency == "unknown" and tensor.ref.operation == TEXT
        if self.m.frequency != "step" and not request:
            return
        often = "for each text" if request else "every step"
        why = Why(f"the tensor is moved to the device here {often}", (node.start, node.end))
        self._told(*tensor.ref, tensor.sure, (*tensor.why, why))

    def _told(
        self, made: ir.Node, statement: ir.Stmt, operation: str, sure: int, why: tuple[Why, ...]
    ) -> None:
        self.m.record(
            ChangingShape,
            made,
            min(sure, LIKELY),
            why,
            at=statement,
            via="batch",
            operation=operation,
            tensor=short(self.m.source(made, statement)),
            cause="batch",
        )
