from __future__ import annotations

import pytest

from making import a_finding, a_fix, a_report
from xlamig.findings import Report
from xlamig.report.changes import applied_fixes, diff, remaining_findings


def test_no_change_no_diff() -> None:
    assert diff("a.py", "x\n", "x\n") == ""


@pytest.mark.parametrize("text", ["x\n", "x\r\n", "x\x0cy\n", "x\u2028y\n"])
def test_only_a_newline_ends_a_line(text: str) -> None:
    assert diff("a.py", text, "new\n" + text) == f"--- a.py\n+++ a.py\n@@ -1 +1,2 @@\n+new\n {text}"


def test_a_missing_last_newline_is_said() -> None:
    assert diff("a.py", "x", "y\n").splitlines()[3:] == ["-x", "\\ No newline at end of file", "+y"]


def test_nothing_applied_says_nothing() -> None:
    assert list(applied_fixes({"a.py": {}})) == []


def test_applied_fixes_by_file_and_rule() -> None:
    lines = applied_fixes({"b.py": {"XLA002": 1, "XLA001": 2}, "a.py": {"XLA001": 1}})
    text = "Fixed 4 problems:\n- a.py:\n    1 x XLA001\n- b.py:\n    2 x XLA001\n    1 x XLA002"
    assert "\n".join(lines) == text


def test_crlf_lines_keep_their_ends() -> None:
    assert "-b\r\n+c\r\n" in diff("a.py", "a\r\nb\r\n", "a\r\nc\r\n")


def test_what_is_left_and_what_it_takes() -> None:
    report = a_report(
        a_finding("XLA101", fix=a_fix("unsafe")),
        a_finding("XLA101", help="sum up"),
        a_finding("XLA712", help="ask for the device"),
        a_finding("XLA005", severity="info"),
    )
    assert "\n".join(remaining_findings(report, {"XLA101": 3}, unsafe_fixes=False)) == (
        "Left 3 problems:\n- 2 of 5 x XLA101:\n"
        "    1 x --unsafe-fixes would write it\n    1 x by hand: sum up\n"
        "- 1 x XLA712: by hand: ask for the device"
    )


def test_nothing_left_says_nothing() -> None:
    assert list(remaining_findings(Report("torch_xla"), {"XLA101": 3}, unsafe_fixes=True)) == []
