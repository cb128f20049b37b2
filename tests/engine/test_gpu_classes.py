"""Classes for GPU attention, beside a class that does without, are information."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

MODEL = """import torch
from torch import nn

try:
    from flash_attn import flash_attn_func, flash_attn_varlen_func
except ImportError:
    flash_attn_func = None

def lengths(mask):
    return mask.sum(-1).max().item()

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
    def forward(self, x, mask):
        return self.q(x)

class FlashAttention(Attention):
    def forward(self, x, mask):
        return flash_attn_varlen_func(self.q(x), lengths(mask))

def train(loader, kind):
    layer = (FlashAttention if kind else Attention)().cuda()
    for x, mask in loader:
        layer(x.cuda(), mask.cuda())
"""
CALL = "return flash_attn_varlen_func(self.q(x), lengths(mask))"
BOTH = """if x.ndim == 3:
            return flash_attn_func(self.q(x), lengths(mask))
        else:
            return flash_attn_varlen_func(self.q(x), lengths(mask))"""


def severity(folder: Path, old: str, new: str) -> str:
    """Return the severity of the read in `lengths`."""
    assert old in MODEL
    (folder / "model.py").write_text(MODEL.replace(old, new), encoding="utf-8")
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return next(f.severity for f in report.findings if f.code == "XLA101")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from flash_attn import", "from fast_attn import"),
        ("class FlashAttention(Attention):", "class FlashAttention(nn.Module):"),
        (CALL, f"if kind: {CALL}\n        return self.q(x) * lengths(mask)"),
        ("        return self.q(x)\n", "        return self.q(x) + lengths(mask)\n"),
        ("        layer(x.cuda()", "        lengths(mask.cuda())\n        layer(x.cuda()"),
    ],
    ids=["other-package", "no-other-class", "other-way", "other-class", "other-use"],
)
def test_what_runs_without_the_package_stays(tmp_path: Path, old: str, new: str) -> None:
    assert severity(tmp_path, old, new) == "warning"


@pytest.mark.parametrize("body", [CALL, BOTH], ids=["one", "both-ways"])
def test_what_needs_the_package_is_information(tmp_path: Path, body: str) -> None:
    assert severity(tmp_path, CALL, body) == "info"
