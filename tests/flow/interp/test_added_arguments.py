"""Numbers that a method of a base class in another module adds up."""

from __future__ import annotations

import pytest

from .projects import said_of

BASE = """
import torch
class Base:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.n = 1

    def METHOD

    def learn(self, loader):
        for x in loader:
            self.update(x.to("cuda"))
"""
OWN = """
import torch
from base import Base

class Own(Base):
    def update(self, x):
        loss = self.model(x)[:, :self.n].sum()
        loss.backward()
        self.optimizer.step()
        AFTER

Own(torch.nn.Linear(8, 8).to("cuda")).learn([torch.ones(2, 8)] * 9)
"""


def changing(method: str, after: str = "pass") -> bool:
    said = said_of("own", base=BASE.replace("METHOD", method), own=OWN.replace("AFTER", after))
    return any(line.startswith("changing") for line in said)


def test_classes_of_one_more_task_are_no_step() -> None:
    assert not changing("add(self, k): self.n += k")


@pytest.mark.parametrize(
    ("method", "after"),
    [("tick(self): self.n += 1", "pass"), ("add(self, k): self.n += k", "self.add(1)")],
)
def test_what_may_count_steps(method: str, after: str) -> None:
    assert changing(method, after)
