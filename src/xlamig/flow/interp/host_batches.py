"""Batches on the host that are as long as their longest sample: from tokenizers, and from NumPy arrays."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import FOREIGN, LIKELY, TOP, AbstractValue, Mark
from xlamig.flow.interp.sizes import Sizes, varies

_TOKENIZER = re.compile(r"(?:^|[._])(?:tokeni[sz]er|tok)(?:\.(?:batch_)?encode(?:_plus)?)?$")


def tokenizer_output(sizes: Sizes, args: Args, node: ir.Call) -> AbstractValue | None:
    """Return the tensors that a tokenizer returns for texts; None if a constant sets their length."""
    made, padding = args.keywords.get("return_tensors"), args.keywords.get("padding")
    if made is None or made.const != "pt" or "pad_to_multiple_of" in args.keywords or args.starred:
        return None
    padded = padding is not None and padding.const in (True, "longest")
    unpadded = padding is None or padding.const is False
    if not padded and not (unpadded and _TOKENIZER.search(sizes.m.source(node.func).lower())):
        return None
    return sizes.marked(AbstractValue("tensor", "host", sure=LIKELY, loose=True), "tokenizer", node)


def numpy_array(args: Args) -> AbstractValue:
    """Return a NumPy array that is as long as the longest sample if one of its dimensions is."""
    size = args.get(0, "shape") or TOP
    longest = [n for n in size.items or (size,) if varies(n) and n.trait is Mark.LONGEST]
    return FOREIGN.replace(trait=Mark.LONGEST, why=longest[0].why) if longest else FOREIGN


def tensor_from_array(
    sizes: Sizes, result: AbstractValue, made_of: AbstractValue, node: ir.Call
) -> AbstractValue:
    """Return the tensor made of an array, as long as the longest sample if the array is."""
    if made_of.kind != "foreign" or made_of.trait is not Mark.LONGEST:
        return result
    made = sizes.marked(result.replace(why=made_of.why), "from_numpy", node)
    sizes.collated(made)
    return made.replace(trait=Mark.LONGEST)
