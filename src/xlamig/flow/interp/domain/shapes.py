"""Shapes of tensors by dimension."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xlamig.facts import Span


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dimension that is the same every step, of unknown size; equal names mean equal sizes."""

    name: str


@dataclass(frozen=True, slots=True)
class Varying:
    """A dimension that differs between steps: for which causes, and where each comes from."""

    causes: frozenset[str]
    places: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A dimension of which nothing is known."""


UNKNOWN = Unknown()
Dimension = int | Symbol | Varying | Unknown
Shape = tuple[Dimension, ...] | None
"""The dimensions of a tensor; None where even their number is unknown."""


def join_shapes(one: Shape, other: Shape) -> Shape:
    """Return the least shape that stands for both."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(map(join_dimensions, one, other))


def join_dimensions(one: Dimension, other: Dimension) -> Dimension:
    """Return the least dimension that stands for both."""
    if one == other:
        return one
    varying = [side for side in (one, other) if isinstance(side, Varying)]
    if not varying:
        return UNKNOWN
    causes = frozenset().union(*(side.causes for side in varying))
    places = {place for side in varying for place in side.places}
    return Varying(causes, tuple(sorted(places)))


def has_same_shape(one: Shape, other: Shape) -> bool:
    """Return whether two tensors have equal sizes in all dimensions, for sure."""
    sizes = one or ()
    return one is not None and one == other and all(isinstance(size, int | Symbol) for size in sizes)


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of an elementwise operation on tensors of these shapes."""
    result: tuple[Dimension, ...] = ()
    for shape in shapes:
        if shape is None:
            return None
        rank = max(len(result), len(shape))
        one, other = ((1,) * (rank - len(side)) + side for side in (result, shape))
        result = tuple(map(_broadcast, one, other))
    return result


def _broadcast(one: Dimension, other: Dimension) -> Dimension:
    """Return the size of two dimensions that fit: that of the one that is not 1."""
    if one == 1 or one == other:
        return other
    if other == 1 or isinstance(one, int):
        return one
    return other if isinstance(other, int) else UNKNOWN


def element_count(shape: tuple[Dimension, ...]) -> Dimension:
    """Return the number of elements of a tensor of this shape."""
    result = 1
    for size in shape:
        if not isinstance(size, int):
            return UNKNOWN
        result *= size
    return result
