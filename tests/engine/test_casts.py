"""Autocast for CUDA, on or off, matters only around code that autocast changes."""

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

def squared(x):
    return x.pow(2).mean()

def product(x, y):
    return x @ y

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Linear(3, 3)

    def forward(self, x, y, other):
        with torch.autocast("cuda"MODE):
BODY
"""


def severity(folder: Path, body: str, mode: str = ", enabled=False") -> str:
    """Return how severe the finding is for autocast that is turned off around the block; "" without one."""
    text = PROGRAM.replace("BODY", indent(body, " " * 12)).replace("MODE", mode)
    (folder / "net.py").write_text(text, encoding="utf-8")
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return next((finding.severity for finding in report.findings if finding.code == "XLA801"), "")


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
    assert severity(tmp_path, body) == "warning"


@pytest.mark.parametrize(
    "body",
    [
        "return x.float() * y",
        "x = x.to(torch.float32)\nreturn (x - x * y.sum(dim=-1, keepdim=True)) / math.sqrt(3)",
        "return F.cross_entropy(x.float(), y) + half(x)",
        "for i in range(len(x)):\n    y = y + torch.sigmoid(x[i]).mean()\nreturn y",
    ],
)
def test_is_silent_around_code_that_autocast_leaves_as_it_is(tmp_path: Path, body: str) -> None:
    assert not severity(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.softmax(x, -1)",
        "return F.mse_loss(x, y)",
        "return x.prod(dim=-1)",
        "return torch.cdist(x, y).min()",
        "return ((x - y) ** 2).mean()",
        "return squared(x)",
    ],
)
def test_informs_where_autocast_only_raises_types(tmp_path: Path, body: str) -> None:
    assert severity(tmp_path, body) == "info"


@pytest.mark.parametrize(
    "body",
    [
        "return torch.softmax(x.float(), -1)",
        "return F.mse_loss(x.to(torch.float32), y)",
        "x = x.float()\nreturn x.prod(dim=-1)",
        "x, y = x.float(), y.float()\nreturn ((x - y) ** 2).mean()",
        "n = 3\nreturn x * n ** 2",
    ],
)
def test_is_silent_where_types_are_raised_before(tmp_path: Path, body: str) -> None:
    assert not severity(tmp_path, body)


@pytest.mark.parametrize(
    ("mode", "body", "found"),
    [
        ("", "x.mul_(0.9).add_(y, alpha=0.1)", ""),
        ("", "for a, b in zip(x.parameters(), y.parameters()): a.copy_(b)", ""),
        ("", "return (x - y).abs().mean()", ""),
        ("", "x.add_(y @ y)", "warning"),
        ("", "x.copy_(other(y))", "warning"),
        ("", "return F.cross_entropy(x, y)", "warning"),
        ("", "yield", "warning"),
        ("", "return list(map(other, x))", "warning"),
        (", dtype=torch.bfloat16", "x.copy_(y)", "error"),  # making it raises
        (", enabled=False", "yield", "warning"),
    ],
)
def test_autocast_that_is_on_matters_only_where_it_casts(
    tmp_path: Path, mode: str, body: str, found: str
) -> None:
    assert severity(tmp_path, body, mode) == found
