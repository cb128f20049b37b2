"""A fit in text, in JSON, and in a plan."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from sample import REPORT, text_of

sys.path.insert(0, str(Path(__file__).parents[1]))

from fit_sample import fit
from xlamig.config.settings import EffortSettings
from xlamig.effort.comparison import StepQuestion
from xlamig.effort.estimate import estimate
from xlamig.effort.steps import FitError, read, weigh_step
from xlamig.fits import CAVEAT
from xlamig.knowledge.hardware import load
from xlamig.report import fit_json, fit_text, plan_html, plan_json, plan_text
from xlamig.report.context import Context

PLAN = estimate(REPORT, EffortSettings())
QUESTION = StepQuestion("h100", 0.4, (0.2, 0.4, 0.5), {}, 100)


def schema(name: str) -> Draft202012Validator:
    path = Path(__file__).parents[2] / "docs" / "schemas" / f"{name}.schema.json"
    return Draft202012Validator(json.loads(path.read_text()))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "fit.json"
    path.write_text(fit_json.render(fit("small", "large")))
    return path


def test_text_says_that_it_was_not_run_and_what_does_not_fit() -> None:
    text = "\n".join(fit_text.render(fit("small", "large"), Context()))
    assert CAVEAT in text
    assert "TPU v5e: fits: 3.88 MiB of 15.8 GiB (<1%)" in text
    assert "TPU v5e: does not fit: needs 24 GiB, 15.8 GiB available" in text
    assert "Largest batch: TPU v5e: batch_size 64 fits, 72 does not" in text
    assert "aten::median runs on the CPU (4 times) and is in no graph" in text


def test_json_follows_its_schema() -> None:
    document = json.loads(fit_json.render(fit("small", "large")))
    schema("fit").validate(document)
    assert document["graphs"][0]["arguments"]["by_role"]["parameter"] == 4 * (
        256 * 512 + 512 + 512 * 128 + 128
    )


def test_every_key_of_json_is_required() -> None:
    document = json.loads(fit_json.render(fit("small")))
    for key in document:
        assert not schema("fit").is_valid({name: value for name, value in document.items() if name != key})


def test_a_plan_says_what_a_step_costs(stored: Path) -> None:
    found = weigh_step(read(stored), QUESTION, PLAN, load())
    option = found.options[0]
    peak = load().tpus["v5e"].bf16_tflops * 1e12
    assert (found.unit, found.per_step) == ("samples", 64)
    assert option.seconds.high == pytest.approx(max(found.flops / (0.2 * peak), option.result["bound"]))
    assert option.cost.likely == pytest.approx(option.seconds.likely * 1.2 / 3600)
    assert option.per_million.likely == pytest.approx(option.cost.likely * 1e6 / 64)


def test_a_step_that_makes_its_own_batch_counts_by_the_step(stored: Path) -> None:
    document = json.loads(stored.read_text())
    document["graphs"][0]["inputs"] = []
    stored.write_text(json.dumps(document))
    plan = replace(PLAN, step=weigh_step(read(stored), QUESTION, PLAN, load()))
    for form in (plan_text, plan_html):
        shown = "\n".join(form.render(plan, REPORT, Context(text_of)))
        assert "samples" not in shown and "per million steps" in shown
    json_step = plan_json.document(plan, REPORT)["step_costs"]
    assert (json_step["unit"], json_step["per_step"]) == ("steps", 1)


def test_a_step_that_does_not_fit_asks_for_more_chips(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(fit_json.render(fit("large")))
    option = weigh_step(read(path), QUESTION, PLAN, load()).options[0]
    assert option.chips == 2
    assert "a step does not fit on 1: 2 chips if its memory divides evenly" in option.notes[0]


def test_plans_show_the_step(stored: Path) -> None:
    plan = replace(PLAN, step=weigh_step(read(stored), QUESTION, PLAN, load()))
    text = "\n".join(plan_text.render(plan, REPORT, Context(text_of)))
    page = "\n".join(plan_html.render(plan, REPORT, Context(text_of)))
    assert "One training step, compiled" in text and CAVEAT in text
    assert "One training step, compiled" in page and CAVEAT in page and "0.weight momentum_buffer" in page
    document = json.loads(json.dumps(plan_json.document(plan, REPORT)))
    schema("plan").validate(document)
    assert document["step_costs"]["options"][0]["chip"] == "v5e"


@pytest.mark.parametrize("text", ["", "{}", '{"graphs": []}', "[]"])
def test_a_file_that_is_no_fit_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(text)
    with pytest.raises(FitError, match="not written by"):
        read(path)
