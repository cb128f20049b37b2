"""The record of a dry run, as a trace that `check` reads, and both commands in a row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from xlamig.cli import dryrun as dryrun_command
from xlamig.cli import xlamig
from xlamig.observe import dryrun, merge
from xlamig.report import dryrun_text, trace_json
from xlamig.report.context import Context

PLACE = {"filename": "train.py", "scope": "<module>", "row": 6, "column": 8, "end_row": 6, "end_column": 16}


def event(kind: str, operator: str, count: int, message: str = "", row: int = 6) -> dict[str, Any]:
    place = PLACE | {"row": row, "end_row": row}
    return {"kind": kind, "operator": operator, "message": message, "count": count, "place": place}


RECORD = {
    "steps": 2,
    "operators": 191,
    "lines": {"train.py": {"6": 2}},
    "exception": None,
    "redirected": {"Module.cuda": 1},
    "events": [
        event("unsupported-operator", "aten::mish", 2, "'aten::mish.out' is not implemented for TPU"),
        event("host-read", "aten::_local_scalar_dense", 1),
        event("refused", "aten::mm", 1, "not supported for int64"),
    ],
}
TRACE = dryrun.read(RECORD, 1, "torch_tpu without a TPU")


def test_it_is_a_trace() -> None:
    schema = Path(__file__).parents[2] / "docs" / "schemas" / "trace.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(json.loads(trace_json.render(TRACE)))


def test_a_refused_call_counts_as_one_without_a_kernel() -> None:
    assert [one.kind for one in TRACE.events] == ["unsupported-operator", "host-read", "unsupported-operator"]


def test_text_lists_every_operator_by_line() -> None:
    text = "\n".join(dryrun_text.render(TRACE, Context()))
    assert "Operators without a kernel: 2" in text
    assert "train.py:6:9  aten::mish, 2 calls" in text
    assert "Shapes that depend on values: none" in text
    assert dryrun_text.CAVEAT in text


def test_check_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "dryrun.json"
    path.write_text(trace_json.render(TRACE))
    found = merge.read(path)
    (rows,) = found.events.values()
    assert merge._cost(rows[6][:1]) == "2 calls of an operator without a kernel"


PROGRAM = """\
import torch
from torch.nn import functional as F
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Mish()).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(5):
    y = model(torch.randn(8, 16).cuda())
    loss = F.huber_loss(y, torch.zeros_like(y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    y[y > 0].median()
"""
RAN = {
    "steps": 2,
    "operators": 243,
    "lines": {"train.py": dict.fromkeys(map(str, range(5, 12)), 2) | {"3": 1}},
    "exception": None,
    "redirected": {"Module.cuda": 1, "Tensor.cuda": 2},
    "events": [
        event("unsupported-operator", "aten::mish", 2, row=6),
        event("unsupported-operator", "aten::huber_loss", 2, row=7),
        event("unsupported-operator", "aten::huber_loss_backward", 2, row=9),
        event("dynamic-shape", "aten::index", 2, row=11),
        event("unsupported-operator", "aten::erfinv", 2, row=6),
    ],
}
OBSERVED = [
    ("torch.nn.Mish", "confirmed: 2 calls of an operator without a kernel (train.py:6)"),
    ("huber_loss", "confirmed: 2 calls of an operator without a kernel"),
    ("`y[y > 0]` has a different length every step", "confirmed: 2 calls"),
    ("cuda()", "not observed: the line ran in 1 of the steps, with calls of CUDA redirected"),
]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python of torch_tpu whose run is a recorded one; the program is in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "record").write_text(json.dumps(RAN))
    versions = json.dumps([[3, 11, 2], {"torch": "2.13.0", "torch_tpu": "0.2.0", "numpy": "2.4.6"}])
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        f"case \"$1\" in -c) echo '{versions}'; exit;; esac\n"
        'cp record "$XLAMIG_WATCH_FOLDER/1.dryrun"\n'
    )
    python.chmod(0o755)
    return python


def run(*arguments: str) -> Result:
    return CliRunner().invoke(xlamig, arguments)


def test_check_says_what_a_dry_run_showed(recorded: Path) -> None:
    dry = ["dryrun", "--target", "torch_tpu", "--python", str(recorded)]
    assert run(*dry, "--output-format", "json", "-o", "dryrun.json", "train.py").exit_code == 1
    checked = ["--isolated", "-n", "--target", "torch_tpu", "--trace", "dryrun.json", "train.py"]
    result = run("check", *checked, "--output-format", "json")
    findings = json.loads(result.stdout)["findings"]
    for said, observed in OBSERVED:
        assert [one["observed"] for one in findings if said in one["message"]] == [observed], said
    assert "train.py:6: unsupported-operator (mish), unsupported-operator (erfinv)" not in result.stderr
    assert "huber_loss_backward" not in result.stderr


def test_a_dry_run_without_torch_is_told(recorded: Path) -> None:
    recorded.write_text(recorded.read_text().replace("cp record", ": cp"))
    result = run("dryrun", "--target", "torch_tpu", "--python", str(recorded), "train.py")
    assert (result.exit_code, result.output) == (2, f"{dryrun_command.NOTHING}\n")
