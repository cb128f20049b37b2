"""Fixes of tensor code compute the same values and gradients, on CPU torch and on torch_xla."""

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
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
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
    "XLA108": [
        "a, b = y.sum(), (y * x).mean(); y = y + 0.1 * max(a, b)",
        "a, b = y.mean(), y.mean(); y = y * min(a, b)",
        "a, b = y.sum(), (y * x).mean(); y = y + 0.1 * torch.tensor([a, b], device=y.device).sum()",
        "a, b = y.sum(), (y * x).mean(); y = y + torch.tensor([a, b]).mean().to(y.device)",
    ],
    "XLA109": [
        "k = y[:, 0].argmax(); y = y + data[k]",
        "k = y[:, 0].argmax() - 4; y = y + data[k] * data[k, :].sum()",
        "k = y[:, 0].argmax(); y = y + y[:, k % 4].mean()",
        "k = y[:, 0].argmax(); z = y * 1; z[k] = 2.0; y = z + y",
    ],
    "XLA202": [
        "y = y + y[y > -99].mean()",
        "m = y[:, 0] > y[:, 0].min() - 1; y = y + 0.1 * y[m].mean() + 0.01 * y[m].sum()",
        "m = y < y.max(); y = y + 0.01 * torch.masked_select(y, m).sum() - torch.mean(y[m])",
        "m = y[0] > y[0].min() - 1; y = y + 0.1 * y.masked_select(m).sum()",
        "y = y * y.ge(x).masked_select(x.abs() > 0.1).sum() + (2 * y).masked_select(x > 0.1).sum()",
        "t = y.argmax(1); m = t > 0; y = y + F.cross_entropy(y[m], t[m], label_smoothing=0.1)",
        "t = (y > 0).long(); z = torch.stack([y, -y], 2); m = y > 0.1; y = y - nn.NLLLoss()(z[m], t[m])",
        "t = (y > 0).long(); m = y > 0.1; z = 2 * t[m] + t[m]; y = y * torch.bincount(z, minlength=4)",
    ],
    "XLA203": [
        "m = y[:, 0] > 0; y[m] = 0.5",
        "m = (y > 0).T.contiguous().T; y[~m] = -1",
        "y[y < 0.1] = 0.5",
        "y[(y < 0) | ~(y < 1)] = -1",
    ],
    "XLA204": [
        "k = (y > 0).long().flatten(); y = y * torch.bincount(k, minlength=3).float().mean()",
        "k = (y > 0).int().flatten(); y = y * k.bincount(minlength=2).float().std()",
    ],
    "XLA301": [
        "y = y + data[i]",
        "y = y + data[:, i % 4].mean()",
        "y = y + data[i, 1:3].mean()",
        "y = y + data[i : i + 3]",
        "y = y * data[i : i + 3, 1:2]",
    ],
    "XLA304": [
        "z = y * y + 1; y = 0.1 * z ** (1 + i / 10)",
        "z = y * 0.1 + 1; z **= i; y = z * 0.1",
        "z = (y > 0).long() + 1; y = 0.001 * y * z ** (0.5 + i / 9)",
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
            same = one.shape == other.shape and torch.allclose(one, other, atol=1e-4)
            assert same, (device, after, one, other)
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
    assert done.returncode == 0, done.stderr[-2500:]
