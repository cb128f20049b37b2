"""--baseline, --diff-base and --add-ignore."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xlamig.engine.ignoring import Ignored


def test_what_to_leave_out_reaches_the_engine(engine: Any, invoke: Any) -> None:
    invoke("check", "--baseline", "known.json", "--diff-base", "main")
    options = engine.asked["options"]
    assert (options.baseline, options.diff_base) == (Path("known.json"), "main")


def test_what_is_left_out_is_said(engine: Any, invoke: Any) -> None:
    engine.report = replace(engine.report, hidden=7)
    assert "7 problems not shown: known or on unchanged lines." in invoke("check").stderr


def test_a_written_baseline_is_told_and_is_success(invoke: Any) -> None:
    result = invoke("check", "--baseline", "known.json", "--update-baseline")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Wrote known.json with 3 known problems (2 new, 1 gone).\n"


def test_written_comments_are_told(engine: Any, invoke: Any) -> None:
    result = invoke("check", "--add-ignore", "--ignore-reason", "later")
    assert (result.exit_code, engine.asked["reason"]) == (0, "later")
    assert result.stderr == "Wrote comments for 2 problems in 1 file.\n"


def test_a_finding_that_cannot_get_a_comment_fails(engine: Any, invoke: Any) -> None:
    engine.ignored = Ignored(2, 1, 1)
    result = invoke("check", "--add-ignore", "-q")
    assert (result.exit_code, result.stderr) == (1, "1 problem could not get a comment.\n")


@pytest.mark.parametrize(
    "args",
    [
        ["--add-ignore", "--fix"],
        ["--add-ignore", "--diff"],
        ["--add-ignore", "--update-baseline"],
        ["--add-ignore", "-"],
        ["--update-baseline", "--fix-only"],
        ["--update-baseline", "-"],
    ],
)
def test_tasks_that_do_not_go_together(invoke: Any, args: list[str]) -> None:
    result = invoke("check", *args)
    assert result.exit_code == 2 and "no other task" in result.stderr
