"""Which names share a row, and which records a call; needs no torch."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from operator_groups import grouped
from xla_pool import joined

Entry = tuple[str, list[str], str]


def names(*entries: Entry) -> list[list[str]]:
    return [own for own, _ in grouped(entries, lambda entry: entry[1], lambda entry: entry[2])]


def test_names_of_one_entry_share_a_row() -> None:
    assert names(("abs", ["torch.abs", "Tensor.abs"], "Tensor.abs_")) == [
        ["torch.abs", "Tensor.abs", "Tensor.abs_"]
    ]


def test_an_entry_in_common_is_not_enough() -> None:
    entries = (
        ("max", ["torch.max"], ""),
        ("max|binary", ["torch.max", "torch.maximum"], ""),
        ("maximum", ["torch.maximum"], ""),
    )
    assert names(*entries) == [["torch.max"], ["torch.maximum"]]


def test_a_name_has_the_entries_it_is_in() -> None:
    entries = (("a", ["x"], ""), ("b", ["x", "y"], ""))
    found = {
        own[0]: [key for key, *_ in members]
        for own, members in grouped(entries, lambda e: e[1], lambda e: e[2])
    }
    assert (found["x"], found["y"]) == (["a", "b"], ["b"])


def test_a_form_in_place_without_another_form() -> None:
    assert names(("zero_", [], "Tensor.zero_")) == [["Tensor.zero_"]]


def test_a_gradient_that_kills_the_process_leaves_the_result() -> None:
    forward = {"call": "float32/0", "forward": {"status": "native"}}
    (record,) = joined([forward, {"call": "float32/0 gradient", "lost": "signal 6"}])
    assert record["forward"]["status"] == "native"
    assert record["backward"] == {"status": "error", "error": "signal 6"}


def test_a_gradient_that_was_measured() -> None:
    backward = {"status": "fallback", "aten": ["aten::a"]}
    records = joined([{"call": "c", "forward": {}}, {"call": "c gradient", "backward": backward}])
    assert [record.get("backward") for record in records] == [backward]
