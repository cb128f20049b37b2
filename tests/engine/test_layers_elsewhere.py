"""Layers that another file moves to the device."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

BAG = """from torch import nn

class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = nn.EmbeddingBag(40, 8, mode="mean")

    def forward(self, bag, offsets):
        return self.history(bag, offsets)

def train(model: Recommender, loader, optimizer, device):
    for bag, offsets in loader:
        optimizer.zero_grad()
        model(bag.to(device), offsets.to(device)).sum().backward()
        optimizer.step()

def evaluate(model: Recommender, loader, device):
    return [model(bag.to(device), offsets.to(device)).argmax() for bag, offsets in loader]
"""
MAIN = """import torch
from model import Recommender, evaluate, train

def main(loader):
    device = torch.device("{device}")
    model = Recommender().to(device)
    train(model, loader, torch.optim.SGD(model.parameters()), device)
    evaluate(model, loader, device)

main([])
"""


@pytest.mark.parametrize(("device", "rows"), [("cpu", [6]), ("cuda", [6, 9])])
def test_a_forward_is_told_where_another_file_moves_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, rows: list[int]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(BAG)
    Path("main.py").write_text(MAIN.format(device=device))
    options = Options({"select": ["XLA501"]}, isolated=True, cache=False, jobs=1)
    found = engine.check([Path()], options).findings
    assert [place.place.location.row for finding in found for place in finding.places] == rows
