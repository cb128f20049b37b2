"""A loop over the names of attributes works on each of them."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

PROGRAM = """
class Storage:
    def __init__(self, n):
        self.rewards = torch.zeros(n, 8)
        self.masks = torch.ones(n, 8)
        self.labels = torch.ones(n, 8)

    def to(self, device):
        LOOP

    def insert(self, reward, step):
        total = float(self.masks.sum())
        other = float(self.labels.sum())

def train(loader):
    model = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    storage = Storage(4)
    storage.to("cuda")
    for step, x in enumerate(loader):
        loss = model(x.to("cuda")).sum()
        loss.backward()
        optimizer.step()
        storage.insert(loss.detach(), step)

train(torch.utils.data.DataLoader([]))
"""
MOVES = "for name in NAMES: setattr(self, name, getattr(self, name).to(device))"
MASKS = "host-read item: float(self.masks.sum())"


def reads(loop: str) -> list[str]:
    return [line for line in said(PROGRAM.replace("LOOP", loop), "host-read") if "self." in line]


@pytest.mark.parametrize("names", ['("rewards", "masks")', '["rewards", "masks"]'])
def test_moves_what_is_named(names: str) -> None:
    assert reads(MOVES.replace("NAMES", names)) == [MASKS]


def test_moves_what_a_name_is_part_of() -> None:
    loop = 'for n in ("reward", "mask"): setattr(self, n + "s", getattr(self, f"{n}s").to(device))'
    assert reads(loop) == [MASKS]


def test_leaves_what_is_not_named() -> None:
    assert reads(MOVES.replace("NAMES", '("rewards", "x")')) == []


def test_leaves_a_loop_that_may_end_early() -> None:
    loop = 'for name in ("rewards", "masks"):\n            if name == device: break\n'
    assert reads(f"{loop}            setattr(self, name, getattr(self, name).to(device))") == []
