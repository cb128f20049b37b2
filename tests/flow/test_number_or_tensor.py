"""XLA108 says to stack tensors, and what to do with numbers, where some may be numbers on one path."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

STEP = """import torch
device = torch.device("xla")
def corner(x, size=None):
    {lines}
    return torch.tensor([{elements}], device=device)
model = torch.nn.Linear(3, 3).to(device)
def train(loader, optimizer):
    for x in loader:
        x = model(x.to(device))
        loss = x.sum() + corner(x).sum() + corner(x, x[0]).sum()
        loss.backward()
        optimizer.step()
"""
CASES = {
    ("w, h = x.sum(), x.mean()", "w, h"): False,
    ("w, h = x.shape\n    if size is not None: w, h = size[0], size[1]", "w - 1, h - 1"): True,
    ("w, h = x.sum(), 3", "w, h"): True,
}


@pytest.mark.parametrize(("lines", "elements"), CASES)
def test_help_tells_of_numbers_among_tensors(lines: str, elements: str) -> None:
    text = STEP.format(lines=lines, elements=elements)
    options = engine.Options({"select": ["XLA108"]}, isolated=True, stdin=("train.py", text.encode()))
    finding = engine.check([Path("train.py")], options).findings[0]
    assert "`torch.stack([...])` instead of `torch.tensor([...])`" in (finding.help or "")
    assert ("raises for numbers" in (finding.help or "")) is CASES[lines, elements]
