"""Every format against its golden file; XLAMIG_UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from sample import REPORT, text_of

from xlamig.config.settings import EffortSettings
from xlamig.effort import estimate
from xlamig.report import FORMATS, plan_json, plan_text, render, statistics, summary
from xlamig.report.context import Context

GOLDEN = Path(__file__).parent / "golden"
CONTEXT = Context(text_of)
PLAN = estimate(REPORT, EffortSettings())


def check(name: str, lines: Iterable[str]) -> None:
    text = "\n".join(lines) + "\n"
    path = GOLDEN / name
    if os.environ.get("XLAMIG_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_format(name: str) -> None:
    check(f"check.{name}", render(name, REPORT, CONTEXT))


@pytest.mark.parametrize("name", ["text", "json"])
def test_statistics(name: str) -> None:
    check(f"statistics.{name}", statistics.render(name, REPORT, CONTEXT))


def test_summary() -> None:
    check("summary.text", [*summary.summary(REPORT), summary.effort_line(PLAN)])


def test_plan_text() -> None:
    check("plan.text", plan_text.render(PLAN, REPORT, CONTEXT, explain=True))


def test_plan_json() -> None:
    check("plan.json", [plan_json.render(PLAN, REPORT)])
