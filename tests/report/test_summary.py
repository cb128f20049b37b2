from __future__ import annotations

import json

import pytest

from making import a_finding, a_fix, a_report
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.findings import FileReport, Report
from xlamig.report import plan_text, render, statistics
from xlamig.report.context import Context
from xlamig.report.numbers import between, figure, percent
from xlamig.report.summary import effort_line, summary, troubles


def test_nothing_found() -> None:
    assert list(summary(Report("torch_xla", (FileReport("a.py"),)))) == ["No problems found in 1 file."]


def test_what_was_left_out_is_said() -> None:
    report = Report("torch_xla", (FileReport("a.py", unfollowed=("decode", "step")), FileReport("b.py")))
    assert list(troubles(report)) == ["Partly analysed a.py: too many calls to follow, of decode, step"]


def test_what_is_less_sure_is_said_with_the_option_that_shows_it() -> None:
    report = Report("torch_xla", (FileReport("a.py", unsure=2), FileReport("b.py", unsure=1)))
    assert "3 of lower confidence not shown; --confidence possible shows them." in summary(
        report, unsure=True
    )
    assert len(list(summary(report))) == 1


def test_only_unsafe_fixes() -> None:
    assert (
        list(summary(a_report(a_finding(fix=a_fix("unsafe")))))[-1] == "1 fixable with --fix --unsafe-fixes."
    )


def test_what_was_fixed_is_counted() -> None:
    assert list(summary(a_report(a_finding()), fixed=3)) == [
        "Found 4 problems in 1 file (3 fixed, 1 remaining)."
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.01, "<0.1"),
        (0.19, "0.2"),
        (1.0, "1"),
        (1.26, "1.3"),
        (9.96, "10"),
        (14.6, "15"),
        (1234, "1200"),
    ],
)
def test_two_figures(value: float, shown: str) -> None:
    assert figure(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1, "100%")]
)
def test_a_share_is_not_rounded_to_nothing_or_all(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_a_range_of_one_figure_is_one_figure() -> None:
    assert between(14.6, 15.4) == "15"


def test_the_estimate_is_called_not_calibrated() -> None:
    report = a_report(a_finding(level="redesign"))
    plan = estimate(report, EffortSettings())
    assert "not calibrated" in effort_line(plan.hours, plan.hours_per_day)
    assert " h without 1 file that could not be read (" in effort_line(plan.hours, 8, unread=1)
    assert "not calibrated" in "\n".join(plan_text.render(plan, report, Context()))


def test_a_dominant_rule_is_named_in_the_plan() -> None:
    report = a_report(*(a_finding(row=row) for row in range(1, 20)))
    text = "\n".join(plan_text.render(estimate(report, EffortSettings()), report, Context()))
    assert "XLA005 cuda-synchronize (19 sites) makes up 100% of the estimate" in text


def test_a_rule_that_shares_its_statements_says_so() -> None:
    sync = a_finding("XLA101", severity="warning", statement="s")
    report = a_report(sync, a_finding("XLA002", severity="error", statement="s"))
    text = "\n".join(plan_text.render(estimate(report, EffortSettings()), report, Context()))
    assert "counted under a different rule" in text


def test_an_empty_plan() -> None:
    report = Report("torch_xla")
    lines = list(plan_text.render(estimate(report, EffortSettings()), report, Context()))
    assert lines[0] == "torch_xla: nothing (no use of PyTorch or CUDA was found, so there is nothing to port)"
    assert not any(line.startswith("1.") for line in lines)


def test_no_findings_print_nothing() -> None:
    report = Report("torch_xla")
    assert list(render("full", report, Context())) == []
    assert list(statistics.render("text", report, Context())) == []
    assert json.loads("\n".join(statistics.render("json", report, Context()))) == []


def test_concise_is_one_line_per_finding_whatever_the_message() -> None:
    finding = a_finding(message="a\nb\r\u2028c", filename="x\ny.py")
    assert len("".join(render("concise", a_report(finding), Context())).splitlines()) == 1
