"""Two runs of a graph differ: in shapes, constants or paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xlamig.facts.common import Fact
from xlamig.facts.reads import Cut

Taker = Literal[
    "", "host", "bounds", "written-back", "count", "extremum", "loss", "rows", "result", "detections",
    "index", "packing",
]  # fmt: skip
"""The use of the elements that a mask selects: they are only copied to the host, where they may become
the bounds of slices, written at the same mask, counted, searched for the greatest or smallest, given to a
loss, written as rows at other indices, returned or collected as they are, selected by a threshold of scores
or given to non-maximum suppression, themselves indices of other tensors, or the rows or lengths of a packed
sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicShape(Fact):
    """The shape of a result on the device depends on values. `mask` is the source text of the mask or size,
    also of the length that `bincount` is given; `widened` that of the mask with a dimension more;
    `same_shape`: a mask computed from the very tensor it is used on. The proof "fitting" is a mask with the
    dimensions that it is known to lack, "number" that a mask-write writes a number, "position" the column of
    numbers at which a mask selects one element of each row, "shared" the parameter that is written at a
    mask, "unchanged" a mask that is made before the loop and the same in all iterations, "as-is" one of them
    of which the loop computes nothing. The `operation` of a mask-write is "+" for `x[m] += v`, its `target`
    the source text of `x[m]`; of `x[:, i, m]` the `tensor` is `x[:, i]`, the part that other indices take,
    unless the proof "joined" says that one of them is a tensor or list. `fixed`: the mask is made of
    constants and sizes alone. `mixed` tells which of tensor and mask is on the host, if only one is."""

    kind: ClassVar[str] = "dynamic-shape"

    via: Literal[
        "nonzero",  # also where(c), argwhere
        "host-indices",  # x[i] with indices that the host finds by values
        "mask-read",  # x[m], masked_select
        "mask-write",  # x[m] = v, x[m] += v
        "unique",  # also bincount, histc, histogram
        "repeat",  # repeat_interleave with a tensor
        "size",  # a size, bound or repeat count that was read from a tensor
        "filtered",  # a list of as many elements as a test lets through is joined, or an index
        "derived",  # one taken from the shape of a tensor with such a shape
        "masked-scatter",
        "experts",  # a loop over experts that picks tokens by mask
        "detection",  # nms, roi_align ...
    ]
    operation: str
    tensor: str = ""
    target: str = ""
    mask: str = ""
    widened: str = ""
    unread: str = ""  # of a "size": `mask` without `.item()` and `int()`, as a tensor
    source: str = ""  # the tensor whose elements a loop takes sizes or masks from, see HostRead
    read: Literal["", "here"] = ""  # the size is a tensor, which the host reads at this place
    consumer: Taker = ""
    cut: Cut = ""  # of a "size"
    longest: str = ""  # of a "size" that is the greatest of several lengths: its source text
    value: Literal["", "scalar", "tensor", "masked"] = ""  # of a mask-write
    same_shape: bool = False
    fixed: bool = False
    mixed: Literal["", "mask", "tensor"] = ""


Cause = Literal["step-counter", "position", "random", "read", "length", "batch"]
"""Why a number differs between two runs of a graph: it counts steps, it is the position in a sequence
that is decoded, it is random, read from a tensor, the length of something that grows, or the batch's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingConstant(Fact):
    """A Python number that differs between graph runs stands where it is baked into the graph.

    via "slice": it moves both bounds of a slice; "length": it moves one, so the length changes as well;
    "window": random numbers move both on their own; "box": an object of a library draws the bounds.
    """

    kind: ClassVar[str] = "changing-constant"

    via: Literal["index", "slice", "length", "attribute", "window", "box"]
    access: Literal["read", "write"] = "read"
    operation: str = ""  # of an attribute: "torch.arange", "**"
    tensor: str = ""
    number: str = ""  # source text of the number
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingShape(Fact):
    """A tensor has a different shape every graph run: it grows, or a list of tensors does.

    via "cache": a library's object that grows; "generate": a library's decoding loop with such a cache;
    "batch": what is put on the device every step; "last-batch": the last batch of an epoch, smaller than
    the others. `use` of one that grows in a loop: the loop only collects it, or the loop is one graph,
    because nothing ends its steps; "processed": a library's loop calls functions that it is given.
    """

    kind: ClassVar[str] = "changing-shape"

    via: Literal["concat", "pad", "list", "size", "cache", "generate", "batch", "last-batch"]
    operation: str
    tensor: str = ""
    cause: Cause
    use: Literal["", "collected", "open", "processed"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingPath(Fact):
    """Python control flow around device work that differs between graph runs; "picked": a number picks one
    of several modules."""

    kind: ClassVar[str] = "changing-path"

    via: Literal["branch", "rounds", "picked"]
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeSlice(Fact):
    """A slice of a device tensor starts at `-n`, and the dimension may be shorter than `n`.

    `growing`: the tensor begins shorter and grows, as a window of the last steps does, or what a shorter one
    lacks is filled up afterwards.
    """

    kind: ClassVar[str] = "negative-slice"

    access: Literal["read", "write"]
    tensor: str
    number: str  # source text of the start
    growing: bool
