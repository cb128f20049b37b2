"""Patterns found in observed calls; needs no torch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from case_search import Seen, fits, separating, told_by_trait


def seen(outcome: str, /, **values: Any) -> Seen:
    return Seen(values, outcome)


def test_nothing_separates_equal_calls() -> None:
    assert separating([seen("bad", mode="a"), seen("good", mode="a")], "bad") == []


def test_all_calls_alike_need_no_pattern() -> None:
    assert separating([seen("bad", mode="a"), seen("bad")], "bad") == []


def test_a_word() -> None:
    calls = [seen("bad", mode="a"), seen("good", mode="b"), seen("good", mode="c")]
    assert separating(calls, "bad") == [("mode", "a")]


def test_several_words() -> None:
    calls = [seen("bad", mode="b"), seen("bad", mode="a"), seen("good", mode="c")]
    assert separating(calls, "bad") == [("mode", ["a", "b"])]


def test_an_argument_that_is_left_out() -> None:
    calls = [seen("bad"), seen("bad", keepdim=True), seen("good", dim=1), seen("good", dim=[0])]
    assert separating(calls, "bad") == [("dim", {"absent": True})]


def test_two_arguments_that_each_suffice() -> None:
    calls = [
        seen("bad", reduce="mean"),
        seen("bad", reduce="sum", own=False),
        seen("good", reduce="sum", own=True),
    ]
    assert sorted(separating(calls, "bad")) == [("own", False), ("reduce", "mean")]


def test_a_refused_pattern_is_not_proposed_again() -> None:
    calls = [seen("bad", k="b"), seen("good", k="a")]
    assert separating(calls, "bad", ["k=b"]) == []


@pytest.mark.parametrize(
    ("when", "values", "expected"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {}, False),
        ({"a": ["x", "y"]}, {"a": "y"}, True),
        ({"a": {"absent": True}}, {}, True),
        ({"a": {"absent": True}}, {"a": None}, False),
        ({"a": {"present": True}}, {"a": None}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
    ],
)
def test_patterns(when: dict[str, Any], values: dict[str, Any], expected: bool) -> None:
    assert fits(when, values) is expected


def test_dimensions_in_words() -> None:
    calls = [Seen({}, "bad", {"dimensions": 3}), Seen({}, "good", {"dimensions": 4})]
    assert told_by_trait(calls * 2, "bad") == "for an input of 3 dimensions"
    assert told_by_trait(calls, "bad") == ""  # one call is no rule
    assert told_by_trait([*calls * 2, Seen({}, "good", {"dimensions": 3})], "bad") == ""


def test_a_tensor_in_place_of_a_number() -> None:
    calls = [seen("bad", n={"shape": [], "dtype": "int64"}), seen("good", n=2)]
    assert told_by_trait(calls * 2, "bad") == "when `n` is a tensor"


def test_a_number_that_comes_with_a_shape_is_no_pattern() -> None:
    assert separating([seen("bad", size=5), seen("good", size=4)], "bad") == []
    assert separating([seen("bad", p=0.0), seen("good", p=2.0)], "bad") == [("p", 0.0)]
