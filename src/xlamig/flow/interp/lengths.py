"""Lengths of samples: what the longest of a batch is, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.blocks import runs_in_module
from xlamig.flow.interp.domain import FOREIGN, LIKELY, NUMBER, OPTION, AbstractValue, Mark, Trait
from xlamig.flow.interp.frames import Env, Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.knowledge import values as table

LASTING: tuple[Trait | None, ...] = (Mark.LONGEST, Mark.BLOCKS, Mark.REMAINDER, Mark.DRAWN, Mark.LENGTH)
_BY_LENGTH = re.compile(r"\blen\b|\.size\(|\.shape\[|\blengths?\b")
_A_SIZE = re.compile(r"^len\(|\.shape\[-?\d\]$|\.size\(-?\d\)$|\.numel\(\)$")
_FEW_SHAPES = 8
"""The least multiple to which batches are padded so that few lengths occur."""


def varies(thing: AbstractValue) -> bool:
    """Return whether a number, or the length of a sequence, is another one for each sample."""
    if thing.kind not in ("number", "sequence") or thing.sure < LIKELY:
        return False
    return thing.cause == "batch" or (thing.cause == "random" and thing.trait is Mark.DRAWN)


def of_numbers(things: Sequence[AbstractValue]) -> AbstractValue | None:
    """Return what a function of numbers gives, which changes as they do; None for other arguments. What is
    made of a length may be rounded up to few sizes."""
    if not things or any(t.kind not in ("number", "bool") or t.cause == "batch" for t in things):
        return None
    lead = next((thing for thing in things if thing.cause), NUMBER)
    return lead.replace(const=NUMBER.const, trait=lead.trait if lead.trait in LASTING else None)


def is_longest(thing: AbstractValue) -> bool:
    """Return whether something is as long as the longest sample of a batch, or a part of that."""
    return thing.trait in (Mark.LONGEST, Mark.BLOCKS)


def is_varied_array(thing: AbstractValue) -> bool:
    """Return whether something is an array or image whose size differs between samples or batches."""
    return thing.kind == "foreign" and thing.trait in (Mark.LONGEST, Mark.SAMPLE)


def size_of_sample(state: State, sample: AbstractValue) -> AbstractValue | None:
    """Return a size of an image or recording of which a step reads another one each time; None for other
    arrays."""
    if sample.trait is not Mark.SAMPLE or state.frequency != "step":
        return None
    return AbstractValue("number", cause="batch", sure=LIKELY, trait=Mark.SAMPLE)


def attribute_of_object(state: State, owner: AbstractValue, name: str) -> AbstractValue:
    """Return the value of an attribute of another library's object."""
    if name == "shape":
        length = size_of_sample(state, owner) or AbstractValue("number", trait=Mark.LENGTH)
        return AbstractValue("sequence", element=length, trait=Mark.SHAPE)
    return OPTION if owner.trait is None and name not in table.names("sizes", "of-arrays") else FOREIGN


def times(made: AbstractValue, number: AbstractValue) -> AbstractValue:
    """`[PAD] * (longest - len(s))`"""
    if not varies(number):
        return made
    return _as_long_as(made.replace(trait=Mark.PADDING), number)


def joined(made: AbstractValue, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """`s + [PAD] * (n - len(s))`: as long as `n` says."""
    varied = [side for side in (left, right) if varies(side)]
    if not varied or (len(varied) > 1 and any(side.trait is Mark.PADDING for side in varied)):
        return made
    return _as_long_as(made, next((side for side in varied if side.trait is Mark.LONGEST), varied[0]))


def _as_long_as(made: AbstractValue, lead: AbstractValue) -> AbstractValue:
    trait = Mark.LONGEST if lead.trait is Mark.LONGEST else made.trait
    return made.replace(cause="batch", sure=LIKELY, trait=trait, why=lead.why)


def rounded(op: str, left: AbstractValue, right: AbstractValue) -> AbstractValue | None:
    """Return what rounding makes of the longest length of a batch: in the end a multiple, of which few occur.
    None for other arithmetic."""
    traits = {left.trait, right.trait}
    if op == "//" and left.trait is Mark.LONGEST and not varies(right):
        return left.replace(trait=Mark.BLOCKS)
    if op == "%" and left.trait is Mark.LONGEST and not varies(right) and not _is_small(right):
        return left.replace(trait=Mark.REMAINDER)
    if op == "*" and Mark.BLOCKS in traits:
        blocks, size = (left, right) if left.trait is Mark.BLOCKS else (right, left)
        return blocks.replace(trait=Mark.LONGEST) if _is_small(size) else NUMBER
    if op in "+-" and traits == {Mark.LONGEST, Mark.REMAINDER}:
        return NUMBER
    return None


def _is_small(number: AbstractValue) -> bool:
    return isinstance(number.const, int) and number.const < _FEW_SHAPES


def is_sorted_by_length(args: Args, state: State) -> bool:
    """Return whether the `key` of a call orders samples by their lengths."""
    keys = [arg.value for arg, _ in args.pairs if arg.keyword == "key"]
    return any(_BY_LENGTH.search(state.source(key)) for key in keys)


def as_the_longest(sample: AbstractValue) -> AbstractValue:
    """Return the longest sample of a batch: its length is another one for each batch."""
    if sample.kind == "sequence" and sample.items:
        return sample.replace(items=tuple(map(as_the_longest, sample.items)))
    lengthy = sample.kind in ("sequence", "unknown") or (sample.kind == "tensor" and not sample.scalar)
    return sample.replace(trait=Mark.LONGEST) if lengthy else sample


def encoded(args: Args, node: ir.Call) -> AbstractValue:
    """Return the numbers of the tokens of a text, which are as many as the text needs."""
    padding = args.keywords.get("padding")
    if args.partial or (padding is not None and padding.const is not False):
        return FOREIGN
    why = Why("a text has a length of its own", (node.start, node.end))
    return AbstractValue(
        "sequence", element=NUMBER, cause="batch", sure=LIKELY, trait=Mark.SAMPLE, why=(why,)
    )


def greater_by_test(node: ir.If) -> tuple[str, ir.Expr] | None:
    """Return the name and the value of `if len(s) > n: n = len(s)`."""
    match node:
        case ir.If(
            test=ir.Compare(left=left, ops=(op,), comparators=(right,)),
            body=(ir.Assign(targets=(ir.Name(id=name),), value=value),),
            orelse=(),
        ) if op in ("<", "<=", ">", ">="):
            least, most = (left, right) if op[0] == "<" else (right, left)
            if isinstance(least, ir.Name) and least.id == name and type(most) is type(value):
                return name, value
    return None


def rounds_up(node: ir.If) -> str:
    """Return the name of `if n % 64: n += 64 - n % 64`, "" for other statements."""
    test = node.test.left if isinstance(node.test, ir.Compare) else node.test
    match test, node.body, node.orelse:
        case ir.Binary(op="%", left=ir.Name(id=name)), (ir.Assign() | ir.AugAssign() as last,), ():
            target = last.target if isinstance(last, ir.AugAssign) else last.targets[0]
            return name if isinstance(target, ir.Name) and target.id == name else ""
    return ""


def _breaks(body: ir.Block) -> bool:
    return any(isinstance(s, ir.Jump) and s.kind == "break" for s in body)


class Lengths:
    """Numbers that differ between samples and batches."""

    def __init__(self, state: State) -> None:
        self.m = state

    def drawn(self) -> AbstractValue:
        """A random number, drawn again and again or once for the whole run, as in a module's constructor."""
        loops = self.m.loops
        if runs_in_module(self.m) and ".__init__" in self.m.frame.scope.name and not self.m.batching:
            return NUMBER
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
        """`width = max(width, len(sample))` in a loop over a batch; `max(size, 0)` only clamps."""
        lengths = [thing for thing in things if thing.kind == "number" and thing.trait is Mark.LENGTH]
        clamps = isinstance(node, ir.Call) and any(isinstance(arg.value, ir.Const) for arg in node.args)
        if not lengths or not self.m.loops or len(things) != 2 or clamps:
            return None
        return self.longest(lengths[0], node)

    def read(self, tensor: AbstractValue, node: ir.Node) -> AbstractValue | None:
        """A number out of a tensor of the host: the greatest of some lengths, or a random one."""
        if tensor.place != "host":
            return None
        if tensor.trait is Mark.LONGEST and tensor.scalar:
            return self.longest(AbstractValue("number", trait=Mark.LENGTH), node)
        return self.drawn() if tensor.trait is Mark.DRAWN else None

    def bounded(self, index: AbstractValue, node: ir.Node) -> AbstractValue:
        """Return an index; a slice has the numbers that its bounds take out of tensors of the host."""
        if index.trait is not Mark.SLICE or all(bound.kind != "tensor" for bound in index.items or ()):
            return index
        bounds = (self.read(b, node) or b if b.kind == "tensor" else b for b in index.items or ())
        return index.replace(items=tuple(bounds))

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
