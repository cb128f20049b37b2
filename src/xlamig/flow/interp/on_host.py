"""Tensors on the device that are computed from nothing but data which the host had before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import MISSING, ON_HOST, AbstractValue
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def is_known(index: AbstractValue) -> bool:
    """Return whether the host knows an index, or what it is computed from."""
    return index.kind != "tensor" or index.place == "host" or index.const is ON_HOST


def computed_const(function: str, operands: Iterable[AbstractValue]) -> Any:  # Any: a constant of the program
    """Return ON_HOST if a function computes its result from such tensors alone."""
    consts = {id(operand.const) for operand in operands}
    drawn = function in table.names("torch", "drawing")
    return ON_HOST if consts == {id(ON_HOST)} and not drawn else MISSING


def note_written(m: State, args: Args) -> None:
    """Forget that the host has the tensors that a collective may write to."""
    named = (node.id for arg, _ in args.pairs for node in ir.walk(arg.value) if isinstance(node, ir.Name))
    for name in named:
        if (held := m.env.get(name)) is not None and held.const is ON_HOST:
            m.put(name, held.replace(const=MISSING))
