"""Shares are printed with their 95 % interval."""

from __future__ import annotations

from benchmarks.intervals import percent, wilson


def test_nothing_has_no_share() -> None:
    assert wilson(0, 0) is None
    assert percent(0, 0) == "-"


def test_the_interval_stays_within_zero_and_one() -> None:
    assert wilson(3, 3) == [1.0, 0.438, 1.0]
    assert wilson(0, 3) == [0.0, 0.0, 0.562]


def test_a_share_of_150_findings() -> None:
    assert percent(87, 150) == "58% (50-66%)"
