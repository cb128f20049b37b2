"""Numbers that an inner loop counts and a loop around it carries: `step += 1` over all epochs."""

from __future__ import annotations

import pytest

from .said import said

TRAIN = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader, epochs):
    step, total = 0, 0
    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch.to(device)).pow(BASE / 100).sum()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            STEP
        EPOCH

train([torch.ones(2, 8)] * 9, 30)
"""


def changing(base: str = "step", step: str = "pass", epoch: str = "pass") -> bool:
    text = TRAIN.replace("BASE", base).replace("STEP", step).replace("EPOCH", epoch)
    return bool(said(text, "changing-constant"))


@pytest.mark.parametrize(
    ("step", "epoch"), [("pass", "pass"), ("pass", "step += 1"), ("total += 1", "pass"), ("step = 3", "pass")]
)
def test_it_stays_from_step_to_step(step: str, epoch: str) -> None:
    assert not changing(step=step, epoch=epoch)


@pytest.mark.parametrize("step", ["step += 1", "step += 2", "total += 1; step += 1"])
def test_it_changes_every_step(step: str) -> None:
    assert changing(step=step)
