"""The rewrites of XLA511 keep values and gradients; CPU torch decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

pytestmark = pytest.mark.evidence

CALLS = [
    ("torch_xla", "torch.nn.functional.huber_loss(a, b, delta=0.3)"),
    ("torch_xla", "1 / torch.nn.functional.huber_loss(a, b, delta=2.5)"),
    ("torch_xla", "torch.nn.functional.huber_loss(a, b)"),
    ("torch_xla", "torch.addmm(a, b, c, beta=0.5, alpha=2)"),
    ("torch_xla", "a / torch.addmm(a, b + 1, c, beta=3)"),
    ("torch_xla", "torch.addmm(a, b, c, alpha=-1)"),
    ("torch_xla", "torch.addmv(a[0], b, c[0])"),
    ("torch_xla", "torch.addbmm(a, b.expand(2, 3, 3), c.expand(2, 3, 3))"),
    ("torch_xla", "torch.logaddexp(a, b - 1)"),
    ("torch_xla", "torch.exp2(a + b)"),
    ("torch_tpu", "torch.nn.functional.mish(a)"),
    ("torch_tpu", "sum(torch.std_mean(a))"),
    ("torch_tpu", "torch.trace(a @ b)"),
    ("torch_tpu", "torch.addbmm(a, b.expand(2, 3, 3), c.expand(2, 3, 3))"),
    ("torch_tpu", "torch.logaddexp(a, b)"),
]
COMPARE = """
import json, sys, torch

def run(expression):
    torch.manual_seed(0)
    tensors = [torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in "abc"]
    result = eval(expression, {"torch": torch, **dict(zip("abc", tensors))})
    result.sum().backward()
    return [result, *(t.grad for t in tensors if t.grad is not None)]

for before, after in json.loads(sys.argv[1]):
    for one, other in zip(run(before), run(after), strict=True):
        assert torch.allclose(one, other), (before, after)
"""


def rewritten(target: str, call: str) -> str:
    """The expression that the fix writes."""
    source = f"import torch\n\n\ndef f(a, b, c):\n    return {call}\n".encode()
    overrides = {"target": target, "select": ["XLA511"]}
    options = Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None
    return outcome.stdin.text.partition("return ")[2].strip()


def test_values_and_gradients_are_equal() -> None:
    pairs = [(call, rewritten(target, call)) for target, call in CALLS]
    assert all(before != after for before, after in pairs)
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    done = subprocess.run([python, "-c", COMPARE, json.dumps(pairs)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]


def test_what_has_to_run_with_torch_tpu_is_not_written() -> None:
    source = b"import torch\nloss = torch.nn.functional.huber_loss(a, b)\n"
    overrides = {"select": ["XLA511"], "keep-working-on": ["cpu", "torch_tpu"]}
    options = Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None and outcome.stdin.text.encode() == source
