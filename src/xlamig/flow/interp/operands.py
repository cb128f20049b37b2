"""The arguments of an operator as shape rules see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xlamig.flow.interp.domain.shapes import Dimension, Shape

Number = int | float | bool | str | None | tuple["Number", ...]


@dataclass(frozen=True, slots=True)
class Operands:
    """The arguments of an operator: the shapes of its tensors, in order, and the values of the others by
    parameter, "*" for positional ones whose overloads do not agree on a name. An unknown size is None;
    `partial` tells that other values are not known."""

    tensors: Sequence[Shape]
    numbers: Mapping[str, Number] = field(default_factory=dict)
    partial: bool = False

    @property
    def first(self) -> Shape:
        """Return the shape of the first tensor."""
        return self.tensors[0] if self.tensors else None

    @property
    def pair(self) -> tuple[tuple[Dimension, ...], tuple[Dimension, ...]] | None:
        """Return the shapes of the first two tensors; None unless both are known."""
        match self.tensors:
            case [tuple() as one, tuple() as other, *_]:
                return one, other
        return None

    def number(self, *names: str) -> Number:
        """Return the first of these arguments that is given."""
        return next((self.numbers[name] for name in names if name in self.numbers), None)

    @property
    def dim(self) -> Number:
        """Return the dimension that an operation is done along; None if it is unknown."""
        return self.number("dim", "axis", "dims") if self.named("dim", "axis", "dims") else self.unnamed(0)

    @property
    def keepdim(self) -> bool:
        """Return whether the result keeps the dimension with one element."""
        return (self.number("keepdim", "keepdims") or self.unnamed(1)) is True

    def sizes(self, *names: str) -> tuple[Number, ...] | None:
        """Return a size, given as a tuple or number by number."""
        given = self.number(*names) if self.named(*names) else self.numbers.get("*")
        if not isinstance(given, tuple):
            return (given,) if self.named(*names, "*") else None
        inner = [part for part in given if isinstance(part, tuple)]
        return inner[-1] if inner else given

    def named(self, *names: str) -> bool:
        """Return whether the call passes one of these keywords."""
        return any(name in self.numbers for name in names)

    def unnamed(self, index: int) -> Number:
        """Return a positional argument whose name is not known."""
        given = self.numbers.get("*")
        return given[index] if isinstance(given, tuple) and index < len(given) else None
