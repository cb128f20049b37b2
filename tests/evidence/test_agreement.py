"""`xlamig ops`, `check` and `trace` say the same of every operator that one tensor is enough for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.knowledge.operators import Operator, operators

pytestmark = [pytest.mark.evidence, pytest.mark.slow]

PYTHON = os.environ.get("XLAMIG_XLA_PYTHON", sys.executable)
HEAD = """import torch
import torch_xla
torch.manual_seed(0)
x = torch.rand(4, 4).to(torch_xla.device())
"""
TRIED = """
import json, sys, warnings
import torch
warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.rand(4, 4)
good = []
for call in json.load(sys.stdin):
    try:
        eval(call)
        good.append(call)
    except Exception:
        pass
json.dump(good, sys.stdout)
"""


SPOKEN = ("XLA20", "XLA501", "XLA511")  # shapes that values decide, fallbacks, and better spellings


def calls() -> Iterator[tuple[str, Operator]]:
    """A call of each operator whose behaviour does not depend on arguments."""
    for operator in operators("torch_xla"):
        owner, _, name = operator.name.rpartition(".")
        known = operator.status in ("native", "fallback") and not operator.cases
        if not known or name.endswith("_") or name.startswith(("set_", "from_")):
            continue
        if owner in ("torch", "torch.linalg", "torch.fft", "torch.special", "torch.nn.functional"):
            yield f"{operator.name}(x)", operator
        elif owner == "Tensor":
            yield f"x.{name}()", operator


def test_a_trace_shows_the_fallbacks_that_ops_and_check_name(tmp_path: Path) -> None:
    wanted = dict(calls())
    tried = subprocess.run(
        [PYTHON, "-c", TRIED], input=json.dumps(list(wanted)), capture_output=True, text=True, check=True
    )
    lines = json.loads(tried.stdout)
    assert len(lines) > 300
    program = tmp_path / "program.py"
    program.write_text(HEAD + "".join(f"y = {line}\n" for line in lines))
    by_row = {len(HEAD.splitlines()) + at: wanted[line] for at, line in enumerate(lines, 1)}

    seen = fallbacks(program)
    expected = {row for row, operator in by_row.items() if operator.status == "fallback"}
    waits = {row for row, operator in by_row.items() if operator.host_read}  # which `aten::equal` may do
    assert {by_row[row].name for row in (expected ^ seen.keys()) - waits} == set()
    for row in expected:
        bases = {name.partition(".")[0] for name in by_row[row].aten}
        assert seen[row] & bases, (by_row[row].name, seen[row], bases)

    report = engine.check([program], engine.Options({}, isolated=True, jobs=1, cache=False))
    rows = {(one.place.location.row, one.code) for one in report.findings}
    assert {by_row[row].name for row in {row for row, code in rows if code == "XLA501"} - expected} == set()
    found = {row for row, code in rows if code.startswith(SPOKEN)}
    assert {by_row[row].name for row in expected - found} == set()


def fallbacks(program: Path) -> dict[int, set[str]]:
    """Return the operators that ran on the CPU, by row of the program."""
    command = [sys.executable, "-c", "from xlamig.cli import main; main()", "trace", "--python", PYTHON]
    done = subprocess.run(
        [*command, "--output-format", "json", program.name],
        cwd=program.parent, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    events = json.loads(done.stdout)["events"]
    found: dict[int, set[str]] = {}
    for event in events:
        if event["operators"] and event["location"]:
            names = {name.partition(".")[0] for name in event["operators"]}
            found.setdefault(event["location"]["row"], set()).update(names)
    return found
