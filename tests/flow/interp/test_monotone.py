"""Transfer functions keep the order of the domain: of operands that stand for more, so does the result.

Held where an operator is defined: shapes that fit, operands of one kind. docs/architecture.md says what an
operator proves beyond that, and so does not keep.
"""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlamig.flow.interp.domain import AbstractValue, Cause, constant, join
from xlamig.flow.interp.domain.shapes import UNKNOWN, Dimension, Shape, join_shapes
from xlamig.flow.interp.operands import Number, Operands
from xlamig.flow.interp.shape_rules import shape_of
from xlamig.flow.interp.shape_table import RULES

from .test_transfer import binary

DIMENSIONS: st.SearchStrategy[Dimension] = st.sampled_from([1, 2, UNKNOWN])
SHAPES: st.SearchStrategy[Shape] = st.none() | st.lists(DIMENSIONS, max_size=3).map(tuple)
ARGUMENTS: st.SearchStrategy[dict[str, Number]] = st.dictionaries(
    st.sampled_from(
        ["dim", "dims", "keepdim", "size", "repeats", "start", "end", "dim0", "dim1", "sections"]
    ),
    st.sampled_from([0, 1, -1, 2, True, False, None, (0, 1), (-1,)]),
    max_size=3,
)
CAUSED = st.builds(
    lambda cause, loop: (cause, loop if cause else 0), st.sampled_from(get_args(Cause)), st.integers(0, 1)
)
NUMBERS = st.one_of(
    st.builds(lambda caused: AbstractValue("number", cause=caused[0], loop=caused[1]), CAUSED),
    st.sampled_from([0, 1, 2.0]).map(constant),
)
TENSORS = st.builds(
    lambda dtype, shape, caused, source: AbstractValue(
        "tensor", "device", 3, dtype, shape, cause=caused[0], loop=caused[1], source=source
    ),
    st.sampled_from(["", "bool", "float"]),
    SHAPES,
    CAUSED,
    st.sampled_from(["", "x"]),
)
OPERATORS = ["+", "-", "*", "/", "//", "**", "&", "|"]


def is_above(upper: AbstractValue, value: AbstractValue) -> bool:
    return join(upper, value).key() == upper.key()


@pytest.mark.parametrize("name", sorted(RULES))
@given(shapes=st.lists(st.tuples(SHAPES, SHAPES), min_size=1, max_size=3), numbers=ARGUMENTS)
@settings(max_examples=60, deadline=None)
def test_shape_rules_are_monotone(
    name: str, shapes: list[tuple[Shape, Shape]], numbers: dict[str, Number]
) -> None:
    lower = shape_of(name, Operands([one for one, _ in shapes], numbers))
    upper = shape_of(name, Operands([join_shapes(one, other) for one, other in shapes], numbers))
    assert join_shapes(lower, upper) == upper


@pytest.mark.parametrize("op", OPERATORS)
@given(one=NUMBERS, other=NUMBERS, third=NUMBERS)
@settings(max_examples=60, deadline=None)
def test_operators_of_numbers_are_monotone(
    op: str, one: AbstractValue, other: AbstractValue, third: AbstractValue
) -> None:
    upper = join(one, other)
    assert is_above(binary(op, upper, third)[0], binary(op, one, third)[0])
    assert is_above(binary(op, third, upper)[0], binary(op, third, one)[0])


@pytest.mark.parametrize("op", OPERATORS)
@given(one=TENSORS, other=TENSORS, third=TENSORS | NUMBERS)
@settings(max_examples=60, deadline=None)
def test_operators_of_tensors_are_monotone(
    op: str, one: AbstractValue, other: AbstractValue, third: AbstractValue
) -> None:
    upper = join(one, other)
    assert is_above(binary(op, upper, third)[0], binary(op, one, third)[0])
    assert is_above(binary(op, third, upper)[0], binary(op, third, one)[0])


@given(one=TENSORS | NUMBERS, other=TENSORS | NUMBERS)
@settings(deadline=None)
def test_the_cause_of_a_result_does_not_depend_on_the_order(one: AbstractValue, other: AbstractValue) -> None:
    sums = [binary("+", *operands)[0] for operands in ((one, other), (other, one))]
    assert len({(value.cause, value.loop) for value in sums}) == 1
