"""Lengths of samples: what the longest of a batch is, and what becomes of it."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import FOREIGN, LIKELY, NUMBER, AbstractValue, Mark, Trait
from xlamig.flow.interp.state import State

LASTING: tuple[Trait | None, ...] = (Mark.LONGEST, Mark.BLOCKS, Mark.REMAINDER, Mark.DRAWN, Mark.LENGTH)
_BY_LENGTH = re.compile(r"\blen\b|\.size\(|\.shape\[|\blengths?\b")
_FEW_SHAPES = 8
"""The least multiple to which batches are padded so that few lengths occur."""


def varies(thing: AbstractValue) -> bool:
    """Return whether a number, or the length of a sequence, is another one for each sample."""
    if thing.kind not in ("number", "sequence") or thing.sure < LIKELY:
        return False
    return thing.cause == "batch" or (thing.cause == "random" and thing.trait is Mark.DRAWN)


def is_longest(thing: AbstractValue) -> bool:
    """Return whether something is as long as the longest sample of a batch, or a part of that."""
    return thing.trait in (Mark.LONGEST, Mark.BLOCKS)


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
