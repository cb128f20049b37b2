"""Tensors on the device that are computed from nothing but data which the host had before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import MISSING, OF_NUMBERS, ON_HOST, AbstractValue, Mark, element_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_PLAIN = frozenset({"number", "bool", "none", "text", "device", "dtype", "api"})


def is_known(index: AbstractValue) -> bool:
    """Return whether the host knows an index, or what it is computed from."""
    return index.kind != "tensor" or index.place == "host" or index.on_host


def computed_const(
    function: str, operands: Iterable[AbstractValue], args: Args | None = None
) -> Any:  # Any: a constant of the program
    """Return ON_HOST if a function computes its result from such tensors alone, OF_NUMBERS for those of
    numbers; on the host also its other arguments have to be the same every step."""
    operands = tuple(operands)
    if not operands or function in table.names("torch", "drawing"):
        return MISSING
    if all(operand.const is OF_NUMBERS for operand in operands):
        return OF_NUMBERS if args is None or all(map(is_same_on_host, args.all)) else MISSING
    return ON_HOST if all(operand.on_host for operand in operands) else MISSING


def combined_const(left: AbstractValue, right: AbstractValue) -> Any:  # Any: a constant of the program
    """Return what is known of the result of an operator on a tensor and something else."""
    if left.const is right.const:
        return left.const
    if all(side.const is OF_NUMBERS or is_same_number(side) for side in (left, right)):
        return OF_NUMBERS
    return ON_HOST if left.on_host and right.on_host else MISSING


def picked_const(
    base: AbstractValue, index: Iterable[AbstractValue]
) -> Any:  # Any: a constant of the program
    """Return what is known of the elements of a tensor at an index."""
    index = tuple(index)
    if base.place == "host":
        return base.const if all(map(is_same_on_host, index)) else MISSING
    if not all(map(is_known, index)):
        return MISSING
    changes = any(part.cause or any(end.cause for end in part.items or ()) for part in index)
    return ON_HOST if changes and base.const is OF_NUMBERS else base.const


def is_same_number(thing: AbstractValue) -> bool:
    """Return whether something is a number of Python that is the same every step."""
    return thing.kind == "number" and not thing.cause


def const_with_number(tensor: AbstractValue, number: AbstractValue) -> Any:  # Any: a constant of the program
    """Return what is known of the result of an operator on a tensor and a number."""
    return tensor.const if tensor.place != "host" or is_same_on_host(number) else MISSING


def is_same_on_host(thing: AbstractValue) -> bool:
    """Return whether an argument is the same every step: a number, a shape, a type, a table of numbers."""
    if thing.kind == "tensor":
        return thing.const is OF_NUMBERS
    if thing.kind == "sequence":
        parts = thing.items if thing.items is not None else (element_of(thing),)
        return not thing.cause and all(map(is_same_on_host, parts))
    return thing.kind in _PLAIN and not thing.cause


def made_on_host(made: AbstractValue, args: Args, maker: str = "") -> AbstractValue:
    """Return a tensor of the host that a call makes of numbers, or of nothing but a size."""
    sized = maker not in ("", "full", "linspace", "logspace")
    known = [(sized and thing.kind == "unknown") or is_same_on_host(thing) for thing in args.all]
    changes = not sized and any(thing.cause for thing in args.all)
    const = OF_NUMBERS if not maker or all(known) else MISSING
    return made.replace(trait=None if changes else Mark.CONSTANT, const=const)


def written(m: State, path: str, base: AbstractValue, given: Iterable[AbstractValue]) -> AbstractValue:
    """Return a tensor after something is written to it, with its index: a table of the host is no more the
    same every step if that is not."""
    if base.place != "host" or (base.trait is not Mark.CONSTANT and base.const is not OF_NUMBERS):
        return base
    if all(map(is_same_on_host, given)):
        return base
    base = base.replace(trait=None if base.trait is Mark.CONSTANT else base.trait, const=MISSING)
    if path:
        m.put(path, base)
    return base


def made_of(data: AbstractValue) -> Any:  # Any: a constant of the program
    """Return what is known of a tensor of the device that is made of `data`: nothing for a zero, which
    stands for what is computed under an option."""
    if data.kind == "number" and data.const == 0:
        return MISSING
    return OF_NUMBERS if data.kind == "sequence" and _holds_numbers(data) else ON_HOST


def _holds_numbers(data: AbstractValue) -> bool:
    """Return whether a list holds nothing but numbers that are the same every step, or lists of them."""
    if data.cause:
        return False
    parts = data.items if data.items is not None else (element_of(data),)
    return bool(parts) and all(
        _holds_numbers(part) if part.kind == "sequence" else is_same_number(part) for part in parts
    )


def as_entry(thing: AbstractValue, value: ir.Expr | None) -> AbstractValue:
    """Return what a container keeps of a value that is written into it: a tensor that the code fills with one
    number, `state["sum"] = torch.zeros(1).to(device)`, is there to be changed later."""
    if not thing.on_host or value is None:
        return thing
    makers = table.names("sizes", "makes-of-sizes")
    calls = (node for node in ir.walk(value) if isinstance(node, ir.Call))
    made = any(path_of(call.func).rpartition(".")[2].removesuffix("_like") in makers for call in calls)
    return thing.replace(const=MISSING) if made else thing


def note_written(m: State, args: Args) -> None:
    """Forget that the host has the tensors that a collective may write to."""
    named = (node.id for arg, _ in args.pairs for node in ir.walk(arg.value) if isinstance(node, ir.Name))
    for name in named:
        if (held := m.env.get(name)) is not None and held.on_host:
            m.put(name, held.replace(const=MISSING))
