"""Loops whose iterations train a whole model each, as those over folds and seeds do."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

PROGRAM = """
device = torch_xla.device()
batches = [torch.ones(2, 8)] * 9

def fit(model, optimizer, start):
    FORWARD
    for epoch in range(start, 90):
        for batch in batches:
            optimizer.zero_grad()
            model(batch.to(device)).sum().backward()
            optimizer.step()
        torch.save(model.state_dict(), "model.pth")
        score = sum(model(batch.to(device)).mean() for batch in batches)
    AFTER

def run(seed, start):
    if seed is None:
        for each in range(50):
            run(each, start)
    else:
        model = nn.Linear(8, 8).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
        fit(model, optimizer, start)

run(None, 7)
"""
SET_FORWARD = "for _ in range(1, start): optimizer.step()"
STEP = "step-boundary none: optimizer.step()"
FOLDS = "step-boundary none: run(each, start)"


def ends(forward: str = "pass", after: str = "pass") -> list[str]:
    """Return the boundaries of the program's steps, those of the batches apart."""
    text = PROGRAM.replace("FORWARD", forward).replace("AFTER", after)
    return [line for line in said(text, "step-boundary") if line != STEP]


@pytest.mark.parametrize("forward", ["pass", SET_FORWARD])
def test_takes_no_run_of_a_training_for_a_step(forward: str) -> None:
    assert ends(forward) == []


def test_takes_an_update_after_an_inner_loop_for_a_step() -> None:
    update = "model(batches[0].to(device)).sum().backward(); optimizer.step()"
    assert ends(after=update) == [FOLDS]
