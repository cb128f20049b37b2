"""Tensors of the host whose shapes differ from batch to batch: how that comes about, and where it costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from xlamig import ir
from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue, Made, Mark, element_of, sequence
from xlamig.flow.interp.lengths import is_longest, varies
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.knowledge import values as table

if TYPE_CHECKING:
    from xlamig.flow.interp.frames import Env, Loop

TEXT: Final = "tokenizer"
"""The operation that makes a tensor of a text, which has a length of its own."""
VARIED: Final = "varied"
"""The cause of a tensor of the host whose shape is another one for each sample or batch."""
_A_SIZE = re.compile(r"^len\(|\.shape\[-?\d\]$|\.size\(-?\d\)$|\.numel\(\)$")


def _is_varied(array: AbstractValue) -> bool:
    return array.trait in (Mark.LONGEST, Mark.SAMPLE)


def _breaks(body: ir.Block) -> bool:
    return any(isinstance(s, ir.Jump) and s.kind == "break" for s in body)


class Sizes:
    """A varied tensor has as `ref` the node, statement and operation that made it what it is."""

    def __init__(self, state: State) -> None:
        self.m = state

    # ------------------------------------------------------------------ numbers

    def drawn(self) -> AbstractValue:
        """A random number, drawn again and again or once for the whole run."""
        loops = self.m.loops
        trait = Mark.DRAWN if self.m.repeating else None
        return AbstractValue("number", cause="random", loop=loops[-1].id if loops else 0, trait=trait)

    def longest(
        self, given: AbstractValue, node: ir.Node, source: ir.Expr | None = None
    ) -> AbstractValue | None:
        """`max(len(s) for s in batch)`: nobody asks for the longest of what is equally long."""
        lengths = given.kind == "number" and (given.trait is Mark.LENGTH or given.cause == "batch")
        if isinstance(source, ir.Comprehension):
            lengths |= _A_SIZE.search(self.m.source(source.element)) is not None
        texts = self.m.frequency == "unknown" and given.cause == "batch"
        if not lengths or given.cause not in ("", "batch") or not (self.m.batching or texts):
            return None
        why = Why(f"`{short(self.m.source(node))}` is the longest of a batch", (node.start, node.end))
        return AbstractValue("number", cause="batch", sure=LIKELY, trait=Mark.LONGEST, why=(why,))

    def running(self, things: Sequence[AbstractValue], node: ir.Node) -> AbstractValue | None:
        """`width = max(width, len(sample))` in a loop over a batch."""
        lengths = [thing for thing in things if thing.kind == "number" and thing.trait is Mark.LENGTH]
        return self.longest(lengths[0], node) if lengths and self.m.loops and len(things) == 2 else None

    def read(self, tensor: AbstractValue, node: ir.Node) -> AbstractValue | None:
        """A number out of a tensor of the host: the greatest of some lengths, or a random one."""
        if tensor.place != "host":
            return None
        if tensor.trait is Mark.LONGEST and tensor.scalar:
            return self.longest(AbstractValue("number", trait=Mark.LENGTH), node)
        return self.drawn() if tensor.trait is Mark.DRAWN else None

    def collected(self, loop: Loop, iterable: AbstractValue, before: Env) -> Env:
        """The lists that a loop appends to, if it has another number of iterations each time."""
        if not (self.m.repeating and (varies(iterable) or self._ends_early(loop))):
            return {}
        node = loop.node
        header = (node.start, node.iter.end if isinstance(node, ir.For) else node.test.end)
        why = (Why("this loop runs a different number of iterations each time", header),)
        return {
            name: thing.replace(cause="batch", sure=LIKELY, why=why)
            for name, thing in self.m.env.items()
            if thing.trait in (Mark.APPENDED, Mark.GROWS)
            and thing.loop in (0, loop.id)
            and before.get(name, thing) is not thing
        }

    def _ends_early(self, loop: Loop) -> bool:
        """A loop that chance ends, or the end of an episode."""
        ends = table.name_like("ends")
        if isinstance(loop.node, ir.While):
            random = loop.test is not None and loop.test.cause == "random"
            return random or (self.m.batching and ends.search(self.m.source(loop.node.test)) is not None)
        return self.m.batching and any(
            isinstance(s, ir.If) and _breaks(s.body) and ends.search(self.m.source(s.test))
            for s in loop.node.body
        )

    # ------------------------------------------------------------------ tensors

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
        if result.place == "device" and owner is None and first is not None:
            self.listed(plain, first, node)
        if self.m.collating and result.kind == "tensor" and not result.place:
            result = result.replace(place="host")
        if result.kind != "tensor" or result.place != "host":
            return result
        if plain in table.names("sizes", "random") and owner is None:
            return result.replace(trait=Mark.DRAWN)
        if result.scalar:
            return result
        if owner is None and first is not None and first.kind == "sequence":
            return self._of_sequence(result, plain, first, node)
        if owner is None and first is not None and first.kind == "foreign" and _is_varied(first):
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
        arrays = [thing for thing in held if thing.kind == "foreign" and _is_varied(thing)]
        if arrays:
            return self._of_array(result, plain, arrays[0], node)
        alike = plain in table.names("sizes", "of-one-shape")
        joins = alike or plain in table.names("torch", "concat") or plain in table.names("sizes", "joins")
        varied = [t for t in held if t.cause == VARIED and (t.trait is Mark.LONGEST or not alike)]
        if varies(given) or (joins and varied):
            lead = given if varies(given) else varied[0]
            made = self._made_of(result, lead, plain, node)
            if Mark.LONGEST in (given.trait, *(thing.trait for thing in held)):
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
            made = self.marked(result.replace(why=number.why), operation.rpartition(".")[2], node)
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
                    if self.m.source(lower) == self.m.source(left) and varies(self.m.semantics.evaluate(width)):
                        return True
        return False

    def marked(self, result: AbstractValue, operation: str, node: ir.Node) -> AbstractValue:
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
            tensor=short((self.m.program.home_of(statement) or self.m).source(made)),
            cause="batch",
        )
