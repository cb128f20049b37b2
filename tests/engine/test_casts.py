"""Autocast for CUDA that is turned off matters only around code that autocast changes."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from xlamig import engine
from xlamig.engine import Options

PROGRAM = """import math
import torch
import torch.nn.functional as F
from torch import nn

def half(x):
    return x.mean() * 0.5

def product(x, y):
    return x @ y

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Linear(3, 3)

    def forward(self, x, y, other):
        with torch.autocast("cuda", enabled=False):
BODY
"""


def is_reported(folder: Path, body: str) -> bool:
    """Return whether autocast that is turned off around the block is reported."""
    (folder / "net.py").write_text(PROGRAM.replace("BODY", indent(body, " " * 12)), encoding="utf-8")
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return "XLA801" in {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    "body",
    [
        "return x @ y",
        "x @= y",
        "return product(x, y)",
        "return self.norm(x)",
        "return other(x).sum()",
        "return F.relu(x).sum()",
        "return torch.einsum('ij,jk->ik', x, y)",
        "return x.float().matmul(y)",
        "return F.conv2d(x, y)",
        "return F.max_pool2d(x, 2)",
        "return [m(x) for m in other]",
    ],
)
def test_reports_code_that_autocast_may_change(tmp_path: Path, body: str) -> None:
    assert is_reported(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "return x.float() * y",
        "x = x.to(torch.float32)\nreturn (x - x * y.sum(dim=-1, keepdim=True)) / math.sqrt(3)",
        "return F.cross_entropy(x.float(), y) + half(x)",
        "for i in range(len(x)):\n    y = y + torch.softmax(x[i], -1).mean()\nreturn y",
    ],
)
def test_is_silent_around_code_that_autocast_leaves_as_it_is(tmp_path: Path, body: str) -> None:
    assert not is_reported(tmp_path, body)
