"""Tensors that torch makes of numbers without a device are made on the host: nothing runs there instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TEXT = """
import torch, torch_xla
from torch import nn

model = nn.Linear(3, 3).to(torch_xla.device())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([torch.ones(3)] * 8):
    y = model(x.to(torch_xla.device()))
    made = MADE
    (y.sum() + made.sum()).backward()
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("torch.triu_indices(3, 3)", False),
        ("torch.tril_indices(row=3, col=3, offset=-1)", False),
        ("torch.logspace(0, 1, 3, device='cpu')", False),
        ("torch.triu_indices(3, 3, device=y.device)", True),
        ("torch.logspace(0, 1, 3, device=torch_xla.device())", True),
    ],
)
def test_operators_that_make_tensors_of_numbers(made: str, found: bool) -> None:
    settings = {"select": ["XLA501"]}
    options = engine.Options(settings, isolated=True, stdin=("train.py", TEXT.replace("MADE", made).encode()))
    assert bool(engine.check([Path("train.py")], options).findings) is found
