"""Laws of the abstract domain: the order in which ways meet does not change what is known."""

from __future__ import annotations

import weakref
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.facts import Why
from xlamig.flow.interp.domain import (
    BOOL,
    BOTTOM,
    NONE,
    TEXT,
    TOP,
    AbstractValue,
    Carried,
    Cause,
    Definition,
    Grown,
    LibraryObject,
    Mark,
    TorchModule,
    Trait,
    constant,
    join,
    join_all,
    text_of,
    trait_of,
)
from xlamig.flow.interp.domain.shapes import UNKNOWN, Symbol, Varying

from .said import said

CAUSES = st.sampled_from(get_args(Cause))
PLACES = st.sampled_from(["", "device", "host", "either"])
SURE = st.sampled_from([1, 2, 3])
TRAITS = st.sampled_from([None, Mark.NAN, Carried("x"), Grown("x")])
SIZES = st.sampled_from([1, 2, UNKNOWN, Symbol("n"), Varying(frozenset({"batch"}), ((0, 1),))])
SHAPES = st.one_of(st.none(), st.lists(SIZES, max_size=2).map(tuple))
CONSTANTS = st.sampled_from([None, True, 0, 1, 1.0, float("nan"), "cuda", "cpu", "x"]).map(constant)
REASONS = st.lists(st.builds(Why, st.sampled_from("ab"), st.sampled_from([None, (0, 1)])), max_size=2).map(
    tuple
)
TENSORS = st.builds(
    AbstractValue,
    st.just("tensor"),
    PLACES,
    SURE,
    st.sampled_from(["", "bool", "float"]),
    SHAPES,
    st.booleans(),
    cause=CAUSES,
    trait=TRAITS,
    loop=st.sampled_from([0, 1, 2]),
    source=st.sampled_from(["", "x"]),
    why=REASONS,
)
NUMBERS = st.builds(
    AbstractValue, st.sampled_from(["number", "bool"]), sure=SURE, cause=CAUSES, loop=st.sampled_from([0, 1])
)
NAMED = st.builds(
    AbstractValue,
    st.sampled_from(["function", "class", "instance", "api", "module", "optimizer"]),
    PLACES,
    SURE,
    ref=st.sampled_from([None, "a", "b"]),
)
UNKNOWN = st.builds(AbstractValue, st.just("unknown"), PLACES, SURE, cause=CAUSES)
DEVICES = st.builds(AbstractValue, st.sampled_from(["device", "text"]), PLACES, SURE)
FLAGS = st.sampled_from([constant(False), BOOL.replace(trait=Mark.SELDOM)])
PLAIN = st.one_of(
    TENSORS, NUMBERS, NAMED, UNKNOWN, DEVICES, CONSTANTS, FLAGS, st.sampled_from([TOP, BOTTOM, NONE, TEXT])
)


def containers(values: st.SearchStrategy[AbstractValue]) -> st.SearchStrategy[AbstractValue]:
    items = st.lists(values, max_size=2).map(tuple)
    named = st.dictionaries(st.sampled_from("ab"), values, max_size=2)
    return st.one_of(
        st.builds(AbstractValue, st.just("sequence"), items=items, cause=CAUSES),
        st.builds(AbstractValue, st.just("sequence"), element=values),
        st.builds(AbstractValue, st.just("mapping"), fields=named),
    )


VALUES = st.recursive(PLAIN, containers, max_leaves=4)


def key(value: AbstractValue) -> tuple[Any, ...]:
    return value.key(6)


@given(VALUES)
def test_join_is_idempotent(one: AbstractValue) -> None:
    assert join(one, one.replace()).key() == one.key()


def test_a_key_stands_for_one_definition_as_long_as_it_is_kept() -> None:
    class Defined(Definition):
        pass

    definition = Defined()
    known = weakref.ref(definition)
    key = AbstractValue("function", ref=definition).key()
    del definition
    assert known() in key


@given(VALUES, VALUES)
def test_join_is_commutative(one: AbstractValue, other: AbstractValue) -> None:
    assert key(join(one, other)) == key(join(other, one))


@given(VALUES, VALUES)
def test_the_reasons_of_a_join_do_not_depend_on_the_order(one: AbstractValue, other: AbstractValue) -> None:
    assert join(one, other).why == join(other, one).why


@given(TENSORS)
def test_a_join_keeps_what_one_branch_adds_to_the_reasons(one: AbstractValue) -> None:
    more = one.with_reason("c", (2, 3))
    assert join(one, more).why == join(more, one).why == more.why


@given(VALUES, VALUES, VALUES)
def test_join_is_associative(one: AbstractValue, other: AbstractValue, third: AbstractValue) -> None:
    assert key(join(join(one, other), third)) == key(join(one, join(other, third)))


@given(VALUES)
def test_bottom_is_the_identity(one: AbstractValue) -> None:
    assert join(one, BOTTOM) is one
    assert join(BOTTOM, one) is one


@given(VALUES, VALUES)
def test_a_join_stands_for_both(one: AbstractValue, other: AbstractValue) -> None:
    both = join(one, other)
    assert key(join(both, one)) == key(both)
    assert key(join(both, other)) == key(both)


@given(VALUES, VALUES, VALUES)
def test_join_is_monotone(one: AbstractValue, other: AbstractValue, third: AbstractValue) -> None:
    upper = join(one, other)
    assert key(join(join(one, third), join(upper, third))) == key(join(upper, third))


@given(st.lists(VALUES, min_size=1, max_size=40))
def test_what_grows_by_joins_stops_growing(values: list[AbstractValue]) -> None:
    whole, steps = BOTTOM, 0
    for value in values:
        before, whole = whole, join(whole, value)
        steps += key(before) != key(whole)
    assert steps <= 24
    assert all(key(join(whole, value)) == key(whole) for value in values)


def test_a_flag_that_may_hold_always_does_not_hold_in_some_steps_only() -> None:
    flag = BOOL.replace(trait=Mark.SELDOM)
    assert join(flag, BOOL.replace(const=True)).trait is None
    assert join(flag, BOOL.replace(const=False)).trait is Mark.SELDOM


def test_nothing_joined_is_unknown_unless_told() -> None:
    assert join_all([]) is TOP
    assert join_all([], empty=BOTTOM) is BOTTOM


ARMS = """
def f(x, flag):
    if {test}:
        n = {first}
    else:
        n = {second}
    return torch.zeros(8)[:n]
for i in range(9):
    f(torch.rand(4, device="cuda"), i)
"""
WAYS = ["x.sum().item()", "torch.randint(1, 5, ()).item()", "random.randint(1, 5)", "4", "x.shape[0]", "'a'"]


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_the_order_of_branches_does_not_matter(first: str, second: str) -> None:
    one = said(ARMS.format(test="flag", first=first, second=second), sure=False)
    other = said(ARMS.format(test="not flag", first=second, second=first), sure=False)
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize(
    "trait", [None, *Mark, Carried(".x"), Grown("y"), TorchModule("Linear"), LibraryObject("cache")]
)
def test_a_trait_crosses_modules_as_text(trait: Trait | None) -> None:
    assert trait_of(text_of(trait)) == trait
