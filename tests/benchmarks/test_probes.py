from __future__ import annotations

import pytest

from benchmarks.probes.__main__ import probes
from benchmarks.probes.marks import BadMark, judge, marks_in, without_marks
from benchmarks.split import SPLITS


def finding(code: str, row: int, end: int | None = None, severity: str = "warning") -> dict[str, object]:
    return {
        "code": code,
        "severity": severity,
        "filename": "a.py",
        "location": {"row": row, "column": 1},
        "end_location": {"row": end or row, "column": 9},
    }


def test_a_comment_that_says_expect_is_no_mark() -> None:
    assert not list(marks_in("a.py", "x = 1  # we expect XLA101 here\n"))


def test_a_mark_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(BadMark, match=r"a\.py:1"):
        list(marks_in("a.py", "x = 1  # expect XLA101\n"))


def test_marks_are_removed_and_lines_kept() -> None:
    assert without_marks("a  # expect: XLA101\nb  # note\n") == "a\nb  # note\n"


@pytest.mark.parametrize(
    "found",
    [finding("XLA102", 1), finding("XLA101", 2), finding("XLA101", 1, severity="info")],
    ids=["another code", "another line", "information"],
)
def test_an_expected_line_is_missed(found: dict[str, object]) -> None:
    assert not judge(list(marks_in("a.py", "x  # expect: XLA101\ny\n")), [found]).right


def test_one_of_a_group_is_enough() -> None:
    marks = list(marks_in("a.py", "x  # expect@a: XLA401\ny  # expect@a: XLA401\n"))
    assert judge(marks, [finding("XLA401", 2)]).right


def test_a_silent_line_with_a_warning_is_false() -> None:
    marks = list(marks_in("a.py", "x  # silent\n"))
    assert judge(marks, []).right
    assert not judge(marks, [finding("XLA101", 1)]).right


def test_a_finding_about_a_loop_is_not_about_its_silent_lines() -> None:
    assert judge(list(marks_in("a.py", "x\ny  # silent\n")), [finding("XLA401", 1, 9)]).right


@pytest.mark.parametrize("split", SPLITS)
def test_a_probe_must_be_reported_or_stay_silent(split: str) -> None:
    for probe in probes(split):  # type: ignore[arg-type]
        kinds = {mark.kind == "silent" for mark in probe.marks}
        assert len(kinds) == 1, probe.path
