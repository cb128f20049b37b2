"""A negative or neutral number keeps off what asks for another one, as 0 does."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SAMPLE = """import torch
def sample(x, top_p={default}):
    if {test}:
        return x.cuda()
    return x
"""
PARSED = """import argparse, torch
from sample import sample
parser = argparse.ArgumentParser()
parser.add_argument('--top_p', type=float, default={default})
args = parser.parse_args()
sample(torch.ones(2), top_p=args.top_p)
"""


def severities(folder: Path, test: str, default: str, run: str, more: dict[str, str]) -> list[str]:
    write({"sample.py": SAMPLE.format(test=test, default=default), "run.py": run, **more}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [finding.severity for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    ("test", "default", "run", "more"),
    [
        ("top_p > 0", "0", PARSED.format(default=0.9), {}),
        ("top_p > 0", "0.9", PARSED.format(default=-1), {}),
        ("top_p > 0", "None", PARSED.format(default=-1), {"run.sh": "python run.py --top_p 0.9\n"}),
        ("top_p > -2", "None", PARSED.format(default=-1), {}),  # tuned
        ("top_p < 0", "None", PARSED.format(default=-1), {}),
        ("top_p == -1", "None", PARSED.format(default=-1), {}),
        ("top_p != -2", "-1", PARSED.format(default=-1), {}),
        ("top_p is None or top_p > 0", "None", PARSED.format(default=-1), {}),
    ],
)
def test_lists_what_a_number_may_turn_on(
    tmp_path: Path, test: str, default: str, run: str, more: dict[str, str]
) -> None:
    run = run if "0.9" not in default else run + "sample(torch.ones(2))\n"
    assert severities(tmp_path, test, default, run, more) == ["error"]


@pytest.mark.parametrize(
    ("test", "default", "more"),
    [
        ("top_p > 0", "0", {}),
        ("top_p >= 0", "-1", {}),
        ("top_p is not None and top_p > 0", "None", {}),
        ("top_p != -1", "-1", {"run.sh": "python run.py --top_p -1\n"}),
        ("not top_p < 0", "-1", {}),
    ],
)
def test_lowers_what_a_negative_number_keeps_off(
    tmp_path: Path, test: str, default: str, more: dict[str, str]
) -> None:
    assert severities(tmp_path, test, default, PARSED.format(default=-1), more) == ["info"]


@pytest.mark.parametrize(
    ("test", "default", "expected"),
    [
        ("top_p < 1.0", "1.0", "info"),
        ("top_p != 1.0", "1.0", "info"),
        ("top_p < 1.0", "0.9", "error"),
        ("top_p == 1.0", "1.0", "error"),
        ("top_p <= 1.0", "1.0", "error"),
        ("top_p > 1", "1", "error"),  # a count
        ("not top_p < 1.0", "1.0", "error"),
    ],
)
def test_a_limit_at_its_neutral_value_is_off(tmp_path: Path, test: str, default: str, expected: str) -> None:
    assert severities(tmp_path, test, default, PARSED.format(default=default), {}) == [expected]


def test_a_limit_that_settings_give_is_none(tmp_path: Path) -> None:
    more = {"a.yaml": "top_p: 0.9\n"}
    assert severities(tmp_path, "top_p < 1.0", "1.0", PARSED.format(default=1.0), more) == ["error"]
