"""Flags that are tested before the tensors beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
from torch import nn

DEBUG = False
verbose = 0
model = nn.Linear(4, 1).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(loader, check, save):
    global verbose
    for x in loader:
        y = model(x.to("cuda"))
        loss = y.sum()
"""
REST = """            print("bad")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def fixed(test: str) -> str:
    source = f"{HEAD}        {test}\n{REST}"
    options = engine.Options(
        {"select": ["XLA106", "XLA107"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    text = outcome.stdin.text if outcome.stdin is not None else source
    return text.removeprefix(HEAD).removesuffix(REST).strip()


@pytest.mark.parametrize(
    "test",
    [
        "if torch.isnan(y).any() and check:",  # an argument
        "if torch.isnan(y).any() and verbose:",  # set elsewhere, too
        "if torch.isnan(y).any() and save():",
        "if torch.isnan(y).any() or DEBUG:",
        "if not (torch.isnan(y).any() and DEBUG):",
        "if report(y) and torch.isnan(y).any() and DEBUG:",
        "if y.add_(1).sum() > 3 and DEBUG:",
        "if (bad := torch.isnan(y).any()) and DEBUG:",
        "while torch.isnan(y).any() and DEBUG:",
        "if DEBUG and torch.isnan(y).any():",
    ],
)
def test_what_is_no_flag_or_does_more_than_read_stays(test: str) -> None:
    assert fixed(test) == test


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("if torch.isnan(y).any() and DEBUG:", "if DEBUG and torch.isnan(y).any():"),
        (
            "if (torch.isnan(y).any() or torch.isinf(y).any()) and DEBUG:",
            "if DEBUG and (torch.isnan(y).any() or torch.isinf(y).any()):",
        ),
        ("if y.sum() > 3 and DEBUG:  # far", "if DEBUG and y.sum() > 3:  # far"),
    ],
)
def test_a_flag_of_the_module_is_tested_first(test: str, after: str) -> None:
    assert fixed(test) == after
