"""Batches on the host that are as long as their longest sample: from tokenizers, and from NumPy arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import FOREIGN, LIKELY, NUMBER, TOP, AbstractValue, Mark, element_of, sequence
from xlamig.flow.interp.lengths import is_longest, varies
from xlamig.flow.interp.sizes import TEXT, Sizes
from xlamig.knowledge import values as table

_FIXED = frozenset({"pad_to_multiple_of", "pad_to_max_length"})
"""Arguments of tokenizers that pad to few lengths."""
_TOKENIZER = re.compile(r"(?:^|[._])(?:tokeni[sz]er|tok)(?:\.(?:batch_)?encode(?:_plus)?)?$")


def tokenizer_output(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue | None:
    """Return the tensors that a tokenizer returns for texts; None if a constant sets their length."""
    made, padding = args.keywords.get("return_tensors"), args.keywords.get("padding")
    if made is None or made.const != "pt" or args.partial or not _FIXED.isdisjoint(args.keywords):
        return None
    pads = isinstance(node.func, ir.Attribute) and node.func.attr == "pad"
    padded = pads if padding is None else padding.const in (True, "longest")
    unpadded = padding is None or padding.const is False
    if not padded and not (unpadded and _TOKENIZER.search(sizes.m.source(node.func).lower())):
        return None
    return sizes.marked(AbstractValue("tensor", "host", sure=LIKELY, loose=True), TEXT, node)


def array(sizes: Sizes, word: str, args: Args, node: ir.Call) -> AbstractValue:
    """Return what a function of NumPy gives: an array as long as the longest sample, the lengths of samples,
    the greatest of them, or something of which nothing is known."""
    return MAKERS[word](sizes, args, node)


def sample(sizes: Sizes, word: str, node: ir.Call) -> AbstractValue:
    """Return what is read of a file: an image, or a recording with its rate."""
    if word == "recording":
        return sequence((sizes.marked(AbstractValue("tensor", "host"), "load", node), NUMBER))
    made = FOREIGN.replace(trait=Mark.SAMPLE)
    return made if word == "sample" else sequence((made, NUMBER))


def array_method(sizes: Sizes, owner: AbstractValue, name: str, node: ir.Call) -> AbstractValue:
    """Return the result of a method of an array."""
    if name == "max" and owner.trait is Mark.LENGTHS:
        return _greatest(sizes, Args([owner]), node)
    return owner if name in table.names("sizes", "array-keeping") else FOREIGN


def _zeros(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue:
    size = args.get(0, "shape") or TOP
    return _as_long(size.items or (element_of(size) if size.kind == "sequence" else size,))


def _array_of(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue:
    given = args.get(0) or TOP
    if given.kind != "sequence":
        return given if given.kind == "foreign" else FOREIGN
    held = given.items or (element_of(given),)
    if all(thing.kind == "number" and thing.trait is Mark.LENGTH for thing in held):
        return FOREIGN.replace(trait=Mark.LENGTHS)
    return _as_long((given, *held))


def _resized(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue:
    size = args.get(1, "dsize") or TOP
    return _as_long(size.items or ()) if size.kind == "sequence" else FOREIGN


def _padded(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue:
    return _as_long(tuple(_flat(args.get(1, "pad_width") or TOP)))


def _greatest(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue:
    given = args.get(0) or TOP
    held = element_of(given) if given.kind == "sequence" else given
    of_lengths = held.trait is Mark.LENGTHS or (held.kind == "number" and held.trait is Mark.LENGTH)
    longest = sizes.longest(AbstractValue("number", trait=Mark.LENGTH), node) if of_lengths else None
    return longest or FOREIGN


MAKERS: Mapping[str, Callable[[Sizes, Args, ir.Call], AbstractValue]] = {
    "array": _zeros,
    "array-of": _array_of,
    "padded-array": _padded,
    "greatest": _greatest,
    "resized": _resized,
}


def _as_long(parts: tuple[AbstractValue, ...]) -> AbstractValue:
    """Return an array that is as long as the longest sample if one of these sizes or parts is."""
    longest = [part for part in parts if is_longest(part) and (varies(part) or part.kind == "foreign")]
    if longest:
        return FOREIGN.replace(trait=Mark.LONGEST, why=longest[0].why)
    sizes = [part for part in parts if part.kind == "number" and part.cause == "batch" and varies(part)]
    return FOREIGN.replace(trait=Mark.SAMPLE, why=sizes[0].why) if sizes else FOREIGN


def _flat(thing: AbstractValue) -> Iterator[AbstractValue]:
    for part in thing.items or (thing,):
        yield from _flat(part) if part.items else (part,)
