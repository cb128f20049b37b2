"""Shapes and types of the results of torch's operators, by the tables of `knowledge`."""

from __future__ import annotations

from xlamig.flow.interp.arguments import Args, dtype_of
from xlamig.flow.interp.domain import LIKELY, MISSING, NUMBER, POSSIBLE, TOP, AbstractValue, Mark
from xlamig.flow.interp.domain.shapes import UNKNOWN, Dimension, Shape
from xlamig.flow.interp.operands import Number, Operands
from xlamig.flow.interp.reads import SIZES, keeps
from xlamig.flow.interp.shape_rules import shape_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table
from xlamig.knowledge.results import result_of

_SIZES = frozenset({"*", "size", "shape", "repeats"})
"""The parameters in which an unknown number is a dimension of unknown size."""


def result_shape(name: str, owner: AbstractValue | None, args: Args) -> Shape:
    """Return the shape of what an operator returns; None where it is not known."""
    rule = result_of(name).shape
    return shape_of(rule, operands_of(name, owner, args)) if rule else None


def result_dtype(name: str, first: AbstractValue | None, args: Args) -> str:
    """Return the type of an operator's result: "bool", "int", "float", "complex", or "" if it is unknown."""
    given = dtype_of(args)
    if given:
        return given
    known = result_of(name)
    data = args.get(0, "data")
    if known.shape == "data" and data is not None and type(data.const) in (int, float):
        return type(data.const).__name__
    if known.dtype == "same" or known == result_of(""):
        return first.dtype if first is not None else ""
    if known.dtype == "real":
        return real_dtype(first.dtype) if first is not None else ""
    if known.dtype == "numbers":
        return "float" if any(isinstance(number.const, float) for number in args.all) else "int"
    return known.dtype


def is_whole(owner: AbstractValue | None, args: Args) -> bool:
    """Return whether an operator gets a tensor alone, and no dimension; `dim=None` is none."""
    given = (args.keywords.get(name) for name in ("dim", "axis", "dims"))
    alone = len(args.positional) <= (0 if owner is not None else 1)
    return alone and all(value is None or value.kind == "none" for value in given)


def gives_several(name: str, last: str, args: Args) -> bool:
    """Return whether an operator gives a sequence of tensors, as far as its signature and arguments tell;
    `last` is the last word of its name, which stands for it where the name is not known."""
    if last in table.names("torch", "single-or-several") and not args.partial:
        return bool(args.keywords.keys() & table.names("torch", "asking-for-several"))
    by_word = signatures.returns(f"torch.{last}") | signatures.returns(f"Tensor.{last}")
    kinds = signatures.returns(name) or by_word
    return "tensors" in kinds and "tensor" not in kinds


def real_dtype(dtype: str) -> str:
    """Return the type of the parts, or of the magnitude, of a tensor."""
    return "float" if dtype == "complex" else dtype


def joined_dtype(one: str, other: str) -> str:
    """Return the type of what an operator makes of two tensors."""
    return one if one == other else "complex" if "complex" in (one, other) else ""


def dtype_with_number(op: str, dtype: str, of_number: str) -> str:
    """Return the type of what an operator makes of a tensor and a number of the type "complex", or "" for a
    real one."""
    if of_number:
        return of_number
    if op == "/" and dtype != "complex":
        return "float"
    return dtype if dtype != "bool" or op in "&|^" else ""


def operands_of(name: str, owner: AbstractValue | None, args: Args) -> Operands:
    """Return the arguments of a call as shape rules see them."""
    known = signatures.signature(name)
    names = known.positional if known is not None else ()
    found = _Operands()
    if owner is not None:
        found.tensors.append(owner.shape)
    named = names if len(args.positional) <= len(names) else names[:-1]  # the last one collects the surplus
    for i, value in enumerate(args.positional):
        found.add(named[i] if i < len(named) else "*", value)
    for parameter, value in args.keywords.items():
        found.add(parameter, value)
    if args.starred:
        found.partial = True
        found.tensors.append(None)
    return Operands(found.tensors, found.numbers, found.partial)


class _Operands:
    def __init__(self) -> None:
        self.tensors: list[Shape] = []
        self.numbers: dict[str, Number] = {}
        self.partial = False

    def add(self, parameter: str, value: AbstractValue) -> None:
        """Take one argument."""
        if value.kind == "tensor":
            self.tensors.append(None if value.loose else value.shape)
        elif value.kind in ("api", "dtype", "device"):
            return
        elif value.kind == "sequence" and value.items and all(t.kind == "tensor" for t in value.items):
            self.tensors.extend(None if t.loose else t.shape for t in value.items)
        else:
            self._add_number(parameter, value)

    def _add_number(self, parameter: str, value: AbstractValue) -> None:
        known, number = _number(value)
        if not known and (parameter not in _SIZES or value.kind not in ("number", "sequence")):
            self.partial = True
            self.tensors.append(None)
        elif not known and value.kind == "sequence" and number == ():
            self.partial = True
        elif parameter == "*":
            before = self.numbers.get("*", ())
            self.numbers["*"] = (*before, number) if isinstance(before, tuple) else (number,)
        else:
            self.numbers[parameter] = number


def _number(value: AbstractValue) -> tuple[bool, Number]:
    """Return whether a value is known in full, and the value with None for numbers that are not."""
    if value.kind == "sequence":
        if value.items is None:
            return False, ()
        parts = [_number(item) for item in value.items]
        return all(known for known, _ in parts), tuple(number for _, number in parts)
    if value.kind == "none":
        return True, None
    if value.const is not MISSING and isinstance(value.const, bool | int | float | str):
        return True, value.const
    return False, None


def indexed_shape(shape: Shape, index: list[AbstractValue]) -> Shape:
    """Return the shape of `x[index]`."""
    if shape is None:
        return None
    rest, found = list(shape), list[Dimension]()
    for value in index:
        if value.kind == "none":
            found.append(1)
        elif not rest:
            return None
        elif value.trait is Mark.SLICE:
            whole = all(bound.kind == "none" for bound in value.items or (TOP,))
            size = rest.pop(0)
            found.append(size if whole else UNKNOWN)
        elif value.kind == "number":
            rest.pop(0)
        else:
            return None
    return (*found, *rest)


def sizes_of(tensor: AbstractValue) -> AbstractValue:
    """Return the value of `tensor.shape`."""
    number = AbstractValue("number", cause=SIZES.get(tensor.cause, ""), loop=tensor.loop, why=tensor.why)
    if tensor.trait is Mark.LONGEST and not tensor.cause:
        number = number.replace(cause="batch", sure=LIKELY, trait=Mark.LONGEST)
    elif tensor.place == "host":
        number = number.replace(trait=Mark.LENGTH)
    if tensor.shape is None or tensor.loose:
        return AbstractValue("sequence", element=number, trait=Mark.SHAPE)
    items = tuple(
        AbstractValue("number", const=size)
        if isinstance(size, int)
        else NUMBER
        if keeps(number.cause, i)
        else number
        for i, size in enumerate(tensor.shape)
    )
    return AbstractValue("sequence", items=items, trait=Mark.SHAPE)


def size_of(tensor: AbstractValue, index: object) -> AbstractValue | None:
    """Return the value of `tensor.size(index)` if the dimension is static."""
    shape = tensor.shape
    if shape is None or tensor.loose or not isinstance(index, int) or not -len(shape) <= index < len(shape):
        return None
    size = shape[index]
    return AbstractValue("number", const=size) if isinstance(size, int) else None


def attribute_shape(name: str, shape: Shape) -> Shape:
    """Return the shape of `x.T`, `x.grad` and the like."""
    if shape is None or name not in ("T", "mT", "H", "mH"):
        return shape
    return shape[::-1] if name in ("T", "H") else (*shape[:-2], *shape[:-3:-1])


def makes_of_none(function: str) -> bool:
    """Return whether a function of torch makes a tensor out of no other."""
    known = signatures.signature(f"torch.{function}")
    return (
        known is not None
        and ("device" in known.positional or "device" in known.keywords)
        and "input" not in known.positional
    )


def of_unknown_method(owner: AbstractValue) -> AbstractValue:
    """Return the result of a method that no tensor has, of an object that came as a tensor or holds some:
    `graph.num_nodes()` is a number, `batch.images()` is none. Only what is done with it tells."""
    return AbstractValue(
        "unknown",
        owner.place,
        sure=min(owner.sure, LIKELY),
        cause="dynamic" if owner.cause == "dynamic" else "",
        trait=owner.trait,
        loose=True,
        why=owner.why,
    )


def dimension_size(shape: AbstractValue, index: object) -> AbstractValue:
    """Return the size of a dimension of a shape; of one that is counted from the last it is not sure which it
    is."""
    size = shape.element
    if size is None or keeps(size.cause, index) or (size.trait is Mark.SAMPLE and index not in (0, 1)):
        return NUMBER  # also of the channels of an image
    last = isinstance(index, int) and index < 0
    return size.replace(sure=POSSIBLE) if last and size.cause == "derived" else size
