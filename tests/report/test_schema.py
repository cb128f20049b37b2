from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from sample import REPORT

from xlamig.config.settings import EffortSettings
from xlamig.effort.comparison import Question
from xlamig.effort.economics import weigh
from xlamig.effort.estimate import estimate
from xlamig.findings import Report
from xlamig.knowledge.hardware import load
from xlamig.report import jsonformat, plan_json

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
EMPTY = Report("torch_tpu")


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def document(name: str, report: Report) -> dict[str, Any]:
    if name == "check":
        return jsonformat.document(report)
    return plan_json.document(estimate(report, EffortSettings()), report)


@pytest.mark.parametrize("name", ["check", "plan"])
@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["full", "empty"])
def test_documents_are_valid(name: str, report: Report) -> None:
    validator(name).validate(json.loads(json.dumps(document(name, report))))


def test_a_plan_with_costs_is_valid() -> None:
    plan = estimate(REPORT, EffortSettings())
    costs = weigh(Question("h100", 1, 10, ("v6e",), hourly_rate=50), plan, load())
    found = plan_json.document(replace(plan, economics=costs), REPORT)
    validator("plan").validate(json.loads(json.dumps(found)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["check", "plan"])
def test_every_key_is_required(name: str) -> None:
    for key in document(name, REPORT):
        broken = document(name, REPORT)
        del broken[key]
        with pytest.raises(ValidationError):
            validator(name).validate(broken)


def test_every_key_of_a_finding_is_required() -> None:
    for key in jsonformat.document(REPORT)["findings"][0]:
        broken = jsonformat.document(REPORT)
        del broken["findings"][0][key]
        with pytest.raises(ValidationError):
            validator("check").validate(broken)
