"""Stored reports give the same figures as the reports they were made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample import REPORT

from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.report import jsonformat, plan_json
from xlamig.report.stored import points

SETTINGS = EffortSettings()
PLAN = estimate(REPORT, SETTINGS)


def store(folder: Path, name: str, document: object) -> None:
    (folder / name).write_text(json.dumps(document), "utf-8")


def test_plans_come_oldest_first(tmp_path: Path) -> None:
    for name in ("b-2026-11-01.json", "a-20261121.json"):
        store(tmp_path, name, plan_json.document(PLAN, REPORT))
    found, left_out = points(tmp_path, SETTINGS)
    assert [(point.date, point.subject) for point in found] == [
        ("2026-11-01", "b-2026-11-01.json"),
        ("2026-11-21", "a-20261121.json"),
    ]
    assert found[0].hours.likely == pytest.approx(PLAN.hours.likely, abs=0.01)
    assert (found[0].verdict, found[0].hours.lines_to_change) == (PLAN.verdict, PLAN.hours.lines_to_change)
    assert left_out == []


def test_a_check_report_is_estimated(tmp_path: Path) -> None:
    store(tmp_path, "2026-11-21.json", jsonformat.document(REPORT))
    (found,), _ = points(tmp_path, SETTINGS)
    assert (found.revision, found.verdict) == ("check", PLAN.verdict)
    assert found.hours.likely == pytest.approx(PLAN.hours.likely)
    assert found.hours.after_unsafe_fix == pytest.approx(PLAN.hours.after_unsafe_fix)


def test_another_model_is_said(tmp_path: Path) -> None:
    store(tmp_path, "2026-11-21.json", plan_json.document(PLAN, REPORT) | {"model_version": "1"})
    (found,), _ = points(tmp_path, SETTINGS)
    assert found.subject == "2026-11-21.json, by model 1"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("plan.json", "{}", "no date"),
        ("2026-13-45.json", "{}", "no date"),
        ("2026-11-21.json", "{", "not a plan"),
        ("2026-11-21.json", "[]", "not a plan"),
        ("2026-11-21.json", '{"model_version": "3", "findings": [3], "target": ""}', "not a plan"),
    ],
)
def test_what_is_no_report_is_named_and_left_out(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    found, (left_out,) = points(tmp_path, SETTINGS)
    assert found == []
    assert name in left_out
    assert why in left_out
