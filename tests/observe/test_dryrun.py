"""The record of a dry run, as a trace that `check` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from xlamig.observe import dryrun, merge
from xlamig.report import dryrun_text, trace_json
from xlamig.report.context import Context

PLACE = {"filename": "train.py", "scope": "<module>", "row": 6, "column": 8, "end_row": 6, "end_column": 16}


def event(kind: str, operator: str, count: int, message: str = "") -> dict[str, Any]:
    return {"kind": kind, "operator": operator, "message": message, "count": count, "place": PLACE}


RECORD = {
    "steps": 2,
    "operators": 191,
    "lines": {"train.py": {"6": 2}},
    "exception": None,
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
