"""A test that goes on with the next iteration before the update decides whether the parameters change."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TEXT = """
import torch, torch_xla
from torch import nn

def train(model, loader, optimizer):
    model = model.to(torch_xla.device())
    for x in loader:
        loss = model(x.to(torch_xla.device())).sum()
        if TEST:
            BODY
        REST
        torch_xla.sync()

train(nn.Linear(2, 2), torch.utils.data.DataLoader([1]), torch.optim.SGD([], lr=0.1))
"""
UPDATE = "loss.backward(); optimizer.step()"


def helps(test: str, body: str, rest: str) -> list[str]:
    text = TEXT.replace("TEST", test).replace("BODY", body).replace("REST", rest)
    settings = {"select": ["XLA101", "XLA106"], "confidence": "likely"}
    options = engine.Options(settings, isolated=True, stdin=("train.py", text.encode()))
    return [finding.help for finding in engine.check([Path("train.py")], options).findings]


@pytest.mark.parametrize(
    ("test", "body", "rest"),
    [
        ("loss > 9", "continue", UPDATE),
        ("loss.item() > 9", "optimizer.zero_grad(); continue", UPDATE),
        ("loss > 9", "loss.backward(); optimizer.step()", "pass"),
    ],
)
def test_an_update_is_left_out(test: str, body: str, rest: str) -> None:
    assert ["same update" in text for text in helps(test, body, rest)] == [True]


@pytest.mark.parametrize(
    ("test", "body", "rest"),
    [
        ("loss > 9", "continue", "print(x.shape)"),
        ("loss > 9", "loss = loss / 2", UPDATE),
        ("loss > 9", "break", UPDATE),
    ],
)
def test_no_update_is_left_out(test: str, body: str, rest: str) -> None:
    assert ["same update" in text for text in helps(test, body, rest)] == [False]
