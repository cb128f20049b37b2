"""Advice on a module follows from the arguments that its calls pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TEXT = """import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.values = nn.EmbeddingBag(n, 8, mode="sum")
        self.other = F.embedding
    def forward(self, ids, w, offsets):
        BODY
"""
WEIGHTED, RAGGED, PLAIN = (
    "(F.embedding(ids, weight) * per_sample_weights",
    "Pad the bags",
    "Use `F.embedding(",
)


@pytest.mark.parametrize(
    ("body", "help_"),
    [
        ("return self.values(ids)", PLAIN),
        ("return self.values(ids, None, None)", PLAIN),
        ("return self.values(ids) + self.other(ids, per_sample_weights=w)", PLAIN),
        ("return self.values(ids, offsets)", RAGGED),
        ("return self.values(ids, offsets=offsets)", RAGGED),
        ("return self.values(ids, per_sample_weights=w)", WEIGHTED),
        ("return self.values(ids, offsets, w)", WEIGHTED),
    ],
)
def test_weights_and_offsets_of_bags_are_kept(body: str, help_: str) -> None:
    text = TEXT.replace("BODY", body).encode()
    options = engine.Options({"select": ["XLA501"]}, isolated=True, stdin=("train.py", text))
    (finding,) = engine.check([Path("train.py")], options).findings
    assert help_ in (finding.help or "")
    assert finding.fix is not None
    assert help_ in finding.fix.message


def test_weights_of_the_function_are_kept() -> None:
    body = "return F.embedding_bag(ids, self.table, per_sample_weights=w)"
    text = TEXT.replace('nn.EmbeddingBag(n, 8, mode="sum")', "None").replace("BODY", body).encode()
    options = engine.Options({"select": ["XLA501"]}, isolated=True, stdin=("train.py", text))
    (finding,) = engine.check([Path("train.py")], options).findings
    assert WEIGHTED in (finding.help or "")
