"""Elements of tensors of integers, and tensors of integers as positions."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.number_first import as_number
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def takes_element(base: AbstractValue, index: Sequence[AbstractValue], path: str, text: str) -> bool:
    """Return whether a number takes a 0-d tensor out of one whose shape is not known: what indexes something
    else is mostly a vector, but not pairs of indices: `edge_index`, or what the module's text takes the first
    and the second row of."""
    one = len(index) == 1 and index[0].kind == "number"
    if not one or base.shape is not None or base.dtype != "int" or base.loose:
        return False
    rows = index[0].const in (0, 1) and f"{path}[0]" in text and f"{path}[1]" in text
    return not rows and not table.name_like("index-pairs").search(path.rpartition(".")[2])


def prove_positions(
    state: State, node: ir.Subscript, base: AbstractValue, index: Sequence[AbstractValue]
) -> None:
    """Record the parts of an index of a tensor that are tensors of integers."""
    for part, found in zip(node.index, index, strict=True):
        if isinstance(part, ir.Name | ir.Attribute | ir.Call | ir.Binary):
            integers = found.kind == "tensor" and found.dtype == "int"
            state.prove(part, position=integers and base.kind == "tensor")


def read_position(reads: Reads, node: ir.Subscript, first: AbstractValue) -> None:
    """Record what the host reads of the index of a list."""
    part = node.index[0]
    if not isinstance(part, ir.Slice):
        reads.host(part, as_number(part, first), "builtin", "list index")
        return
    for bound, found in zip((part.lower, part.upper), first.items or (), strict=False):
        reads.host(bound or node, found, "builtin", "list slice")


def takes_number(reads: Reads, node: ir.Subscript, base: AbstractValue) -> bool:
    """Record that `loss.data[0]` takes the number out of a 0-d tensor, as programs for torch 0.3 do, where a
    loss was a vector of one element. Return whether it does."""
    match node:
        case ir.Subscript(value=ir.Attribute(attr="data") as held, index=(ir.Const(value=0),)):
            if base.scalar and base.dtype != "int":
                reads.host(node, base, "item", "[0]", held)
                return True
    return False
