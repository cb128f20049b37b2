"""Every format against its golden file; XLAMIG_UPDATE_GOLDEN=1 writes them again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from sample import REPORT, text_of

from xlamig.config.settings import EffortSettings
from xlamig.effort.comparison import Question
from xlamig.effort.economics import weigh
from xlamig.effort.estimate import estimate
from xlamig.effort.plan import Point
from xlamig.knowledge.hardware import load
from xlamig.report import FORMATS, plans, render, statistics, summary
from xlamig.report.context import Context

GOLDEN = Path(__file__).parent / "golden"
CONTEXT = Context(text_of)
PLAN = estimate(REPORT, EffortSettings())
QUESTION = Question("h100", 8, 2000, ("v5e", "v6e"), hourly_rate=100)
POINT = Point("a1b2c3d", "2026-11-21", "a commit", PLAN.verdict, PLAN.hours)
FULL = replace(PLAN, economics=weigh(QUESTION, PLAN, load()), history=(POINT,))


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
    check("summary.text", [*summary.summary(REPORT), summary.effort_line(PLAN.hours, PLAN.hours_per_day)])


@pytest.mark.parametrize("name", [name for name in plans.FORMATS if name != "html"])
def test_plan(name: str) -> None:
    check(f"plan.{name}", plans.render(name, FULL, REPORT, CONTEXT, explain=True))
