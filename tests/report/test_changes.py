from __future__ import annotations

import pytest

from xlamig.report.changes import applied, diff


def test_no_change_no_diff() -> None:
    assert diff("a.py", "x\n", "x\n") == ""


@pytest.mark.parametrize("text", ["x\n", "x\r\n", "x\x0cy\n", "x\u2028y\n"])
def test_only_a_newline_ends_a_line(text: str) -> None:
    assert diff("a.py", text, "new\n" + text) == f"--- a.py\n+++ a.py\n@@ -1 +1,2 @@\n+new\n {text}"


def test_a_missing_last_newline_is_said() -> None:
    assert diff("a.py", "x", "y\n").splitlines()[3:] == ["-x", "\\ No newline at end of file", "+y"]


def test_nothing_applied_says_nothing() -> None:
    assert list(applied({"a.py": {}})) == []


def test_applied_fixes_by_file_and_rule() -> None:
    lines = applied({"b.py": {"XLA002": 1, "XLA001": 2}, "a.py": {"XLA001": 1}})
    text = "Fixed 4 problems:\n- a.py:\n    1 x XLA001\n- b.py:\n    2 x XLA001\n    1 x XLA002"
    assert "\n".join(lines) == text


def test_crlf_lines_keep_their_ends() -> None:
    assert "-b\r\n+c\r\n" in diff("a.py", "a\r\nb\r\n", "a\r\nc\r\n")
