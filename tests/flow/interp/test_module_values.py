"""Modules of the project as values: a dictionary of them, or one that a condition chooses."""

from __future__ import annotations

import pytest

from .projects import said_of

PART = """
import torch

def worst(x):
    return x[x.sum().item() > 0]
"""
TRAIN = """
import sys, torch, torch_xla, math, {names}
{before}

def train(loader, option):
    device = torch_xla.device()
    model = torch.nn.Linear(8, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch.to(device)).sum()
        {call}
        loss.backward()
        optimizer.step()
        torch_xla.sync()

train([torch.ones(2, 8)] * 9, sys.argv[1])
"""


def reads(before: str, call: str, names: str = "one, two", of: str = "two") -> list[str]:
    """Return the host reads in a module that the training script may call."""
    others = {name.strip(): PART for name in names.split(",")}
    found = said_of(of, train=TRAIN.format(names=names, before=before, call=call), **others)
    return [one for one in found if one.startswith("host-read") and "item" in one]


TABLE = 'PARTS = {"one": one, "two": two}'


@pytest.mark.parametrize("of", ["one", "two"])
@pytest.mark.parametrize(
    ("before", "call"),
    [
        (TABLE, "PARTS[option].worst(loss)"),
        (TABLE, "part = PARTS[option]; part.worst(loss)"),
        (TABLE, "worst = PARTS[option].worst; worst(loss)"),
        (TABLE, "PARTS.get(option).worst(loss)"),
        ("PARTS = [one, two]", "[part.worst(loss) for part in PARTS]"),
        ("", "part = one if option else two; part.worst(loss)"),
    ],
)
def test_runs_the_function_of_each_module(before: str, call: str, of: str) -> None:
    assert len(reads(before, call, of=of)) == 1


@pytest.mark.parametrize(
    ("before", "call"),
    [
        (TABLE, "PARTS[option].worst(torch.ones(2))"),  # on the host
        (TABLE, "PARTS[option].best(loss)"),  # no such function
        (TABLE, "PARTS[option]"),
        ('PARTS = {"one": one, "two": one}', "PARTS[option].worst(loss)"),  # never `two`
        ('PARTS = {"one": one, "two": two}', 'PARTS["one"].worst(loss)'),
        ('PARTS = {"one": one, "math": math}', "PARTS[option].worst(loss)"),
    ],
)
def test_runs_no_function_of_a_module_that_is_not_meant(before: str, call: str) -> None:
    assert [one for one in reads(before, call) if "possible" not in one] == []


def test_follows_at_most_four_modules() -> None:
    names = "one, two, three, four, five"
    table = f"PARTS = [{names}]"
    assert reads(table, "PARTS[option].worst(loss)", names) == []
