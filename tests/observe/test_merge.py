"""Findings against a trace: confirmed, not reached, not observed; and what nobody predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from xlamig.cli import xlamig

PROGRAM = """\
import torch
import torch.nn.functional as F


def loss(x, y):
    return F.huber_loss(x, y)


def other(x):
    return x.to("cuda")
"""


def event(row: int, kind: str = "operator", **changed: Any) -> dict[str, Any]:
    return {
        "kind": kind, "via": "fallback", "filename": "program.py", "location": {"row": row, "column": 1},
        "compiles": 1, "executions": 10, "device_to_host": 10, "seconds": 0.5, "compile_seconds": 0.1,
        "rule": "XLA501",
    } | changed  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def run() -> Result:
    options = ["--isolated", "-n", "--output-format", "json", "--trace", "trace.json", "program.py"]
    return CliRunner().invoke(xlamig, ["check", *options])


def check(folder: Path, *events: dict[str, Any], rows: tuple[int, ...] = (), failed_at: int = 0) -> Any:
    """Return the observed findings by code, in the order of the report, and stderr."""
    exception = {"type": "RuntimeError", "filename": "program.py", "location": {"row": failed_at}}
    content = {
        "events": list(events),
        "lines": {"program.py": {str(row): 10 for row in rows}},
        "exception": exception if failed_at else None,
    }
    (folder / "trace.json").write_text(json.dumps(content))
    result = run()
    findings = json.loads(result.stdout)["findings"]
    return {finding["code"]: finding["observed"] for finding in findings}, result.stderr


def test_what_did_not_run_is_not_reached(folder: Path) -> None:
    observed, _ = check(folder)
    assert observed == {
        "XLA511": "not reached: the line did not run",
        "XLA001": "not reached: the line did not run",
    }


def test_what_ran_and_cost_nothing_is_not_observed(folder: Path) -> None:
    observed, _ = check(folder, rows=(6,))
    assert observed["XLA511"] == "not observed: the line ran in 10 of the steps"


def test_an_event_of_another_kind_confirms_nothing(folder: Path) -> None:
    observed, _ = check(folder, event(6, "changing-shape"), rows=(6,))
    assert observed["XLA511"].startswith("not observed")


def test_an_operator_is_confirmed_where_it_runs(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import torch\nbag = torch.nn.EmbeddingBag(9, 4).to('xla')\nx = [*map(bag, y)]\nz = sum(x)\n"
    )
    ran = event(3, operators=["aten::_embedding_bag"])
    observed, stderr = check(folder, ran, rows=(2, 3))
    assert observed["XLA501"] == "confirmed: 1 compilations, 10 executions, 10 reads, 0.50 s (program.py:3)"
    assert "not predicted" not in stderr
    assert check(folder, ran, rows=(3,))[0]["XLA501"] == "not reached: the line did not run"
    other = event(3, operators=["aten::median"])
    assert check(folder, other, rows=(2, 3))[0]["XLA501"].startswith("not observed")


def test_a_call_that_another_finding_names_confirms_that_one_alone(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import torch\nimport torch.nn.functional as F\n"
        "criterion = torch.nn.CTCLoss()\nz = F.ctc_loss(*given)\n"
    )
    check(folder, event(4, operators=["aten::_ctc_loss"]), rows=(3, 4))
    (found,) = json.loads(run().stdout)["findings"]
    places = [(one["location"]["row"], one["observed"].split(":")[0]) for one in (found, *found["also"])]
    assert places == [(3, "not observed"), (4, "confirmed")]


def test_a_confirmed_finding_says_what_it_cost(folder: Path) -> None:
    observed, stderr = check(folder, event(6), rows=(6,))
    assert observed["XLA511"] == "confirmed: 1 compilations, 10 executions, 10 reads, 0.50 s"
    assert "not predicted" not in stderr


def test_an_exception_confirms_what_it_was_predicted_by_and_comes_first(folder: Path) -> None:
    observed, _ = check(folder, rows=(6, 10), failed_at=10)
    assert list(observed) == ["XLA001", "XLA511"]
    assert observed["XLA001"] == "confirmed: RuntimeError was raised here"


def test_what_no_finding_speaks_of_is_listed(folder: Path) -> None:
    _, stderr = check(folder, event(2), event(1, "transfer"))
    assert (
        "  program.py:2: operator (fallback): 1 compilations, 10 executions, 10 reads, 0.50 s [XLA501]"
        in stderr
    )
    assert "program.py:1" not in stderr


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"events": [], "lines": [], "exception": null}'])
def test_a_file_that_is_no_trace(folder: Path, text: str) -> None:
    (folder / "trace.json").write_text(text)
    result = CliRunner().invoke(xlamig, ["check", "--isolated", "-n", "--trace", "trace.json", "program.py"])
    assert result.exit_code == 2
    assert "trace.json is no trace" in result.output
