"""Branches that a test of a loop's counter opens in few of its iterations."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import facts

TRAIN = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader, writer, n):
    for epoch in range(9):
        for i, batch in enumerate(loader):
            loss = model(batch.to(device)).sum()
            loss.backward()
            optimizer.step()
            for j in range(3):
                if TEST:
                    writer.add(loss.item())
"""
EVALUATE = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)

def show(val_loader, writer):
    for i, batch in enumerate(val_loader):
        x = model(batch.to(device))
        if i == 0:
            writer.add(x.sum().item())
"""


def often(text: str) -> set[str | None]:
    return {fact.frequency for fact in facts(text) if fact.kind == "host-read"}


@pytest.mark.parametrize(
    "test",
    ["epoch == 0", "j == 0", "not epoch", "i > 0", "i", "i < n", "i < 100", "i == j", "n == 0", "i >= 0"],
)
def test_most_steps_pass(test: str) -> None:
    assert often(TRAIN.replace("TEST", test)) == {"step"}


@pytest.mark.parametrize(
    "test",
    ["i == 0", "not i", "i < 3", "i + 1 == len(loader)", "i == len(loader) - 1", "epoch == 0 and i == 0"],
)
def test_few_steps_pass(test: str) -> None:
    assert often(TRAIN.replace("TEST", test)) == {"interval"}


def test_a_loop_over_a_loader_counts_its_batches() -> None:
    assert often(EVALUATE) == {"interval"}
