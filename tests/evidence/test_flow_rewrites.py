"""What fixes of tensor code write computes the same: values and gradients, on CPU torch and on torch_xla."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlamig import engine

pytestmark = pytest.mark.evidence

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
PROGRAM = """
def run(device, told):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(13, 4).to(device)
    total = 0.0
    for i in range(0, 13, 3):
        x = data[i : i + 3]
        y = model(x)
        {statement}
        loss = (y * y).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        told.append((loss.detach(), model.weight.grad.clone(), model.weight.detach().clone()))
    told.append((torch.tensor(total),))
"""
CASES = {
    "XLA203": ["y[y < 0.1] = 0.5", "y[(y < 0) | ~(y < 1)] = -1"],
    "XLA301": [
        "y = y + data[i]",
        "y = y + data[:, i % 4].mean()",
        "y = y.mean(0) + data[i : i + 100].sum(0)",
    ],
    "XLA503": ["y = F.elu(y)", "y = F.elu(y, alpha=0.5) + F.elu(x)"],
}
COMPARE = """
import json, sys, torch, torch_xla

xla = torch_xla.device()  # before the first backward pass, which counts the devices

def told_by(source, device):
    space, told = {}, []
    exec(source, space)
    space["run"](device, told)
    return [t.cpu() for row in told for t in row]

for before, after in json.loads(sys.argv[1]):
    expected = told_by(before, "cpu")
    for device in ("cpu", xla):
        for one, other in zip(expected, told_by(after, device), strict=True):
            assert one.shape == other.shape and torch.allclose(one, other, atol=1e-4), (device, after)
"""


def rewritten(source: str, rule: str) -> str:
    overrides = {"select": [rule, "XLA401", "XLA101"], "strategy": "native"}
    annotated = source.replace("(device, told)", "(device: torch.device, told)")
    options = engine.Options(
        overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", annotated.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    return outcome.stdin.text


def test_values_and_gradients_are_equal() -> None:
    pairs = []
    for rule, statements in CASES.items():
        for statement in statements:
            before = HEAD + PROGRAM.format(statement=statement)
            after = rewritten(before, rule)
            assert statement not in after, statement
            assert "total += loss.detach()" in after and "torch_xla.sync()" in after
            pairs.append((before, after))
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    command = [python, "-c", COMPARE, json.dumps(pairs)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-900:]
