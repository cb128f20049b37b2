from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from runs import GOOD, Check

from xlamig.cli import xlamig
from xlamig.engine import isolation
from xlamig.rulebook import judge
from xlamig.rulebook.rule import Rule

CODE = GOOD + b"torch.cuda.memory_allocated()\n"


@pytest.fixture(autouse=True)
def crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule XLA005 raises, whatever it is asked."""
    decide = judge.Judge._decide

    def raising(self: judge.Judge, rule: Rule, *asked: Any) -> Any:
        if rule.code == "XLA005":
            raise KeyError("what is this?")
        return decide(self, rule, *asked)

    monkeypatch.setattr(judge.Judge, "_decide", raising)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_rule_that_raises_costs_its_findings_alone(
    check: Check, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setattr(isolation, "_SMALL", 1)
    report = check({"a.py": CODE, "b.py": CODE}, jobs=jobs)
    assert [f.code for f in report.findings] == ["XLA099", "XLA006"] * 2
    assert {(e.code, e.filename) for e in report.rule_errors} == {("XLA005", "a.py"), ("XLA005", "b.py")}
    assert "KeyError" in report.rule_errors[0].message


@pytest.mark.parametrize("flags", [[], ["--exit-zero"], ["--fix"], ["--diff"], ["--ignore", "XLA099"]])
def test_the_command_exits_with_2(check: Check, flags: list[str]) -> None:
    Path("a.py").write_bytes(CODE)
    result = CliRunner().invoke(xlamig, ["check", "--isolated", "--no-cache", *flags])
    assert result.exit_code == 2
    assert "XLA005" in result.output and "Traceback" not in result.output


def test_json_names_the_rule_and_the_file(check: Check) -> None:
    Path("a.py").write_bytes(CODE)
    result = CliRunner().invoke(
        xlamig, ["check", "--isolated", "--no-cache", "--output-format", "json", "--quiet"]
    )
    (error,) = json.loads(result.stdout)["rule_errors"]
    assert error["code"] == "XLA005" and error["filename"] == "a.py"


def test_without_the_rule_nothing_crashes(check: Check) -> None:
    Path("a.py").write_bytes(CODE)
    result = CliRunner().invoke(xlamig, ["check", "--isolated", "--no-cache", "--ignore", "XLA005"])
    assert result.exit_code == 0 and "XLA099" not in result.output
