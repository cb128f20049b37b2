"""Flags that a test of the step sets: in the caller, in another method, in an argument."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

PROGRAM = """
class Trainer:
    def __init__(self, layer):
        self.model = nn.Linear(8, 8).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.shifts = layer % 2 == 0
        self.logs = self.changes = False

    def update(self, x, late=False):
        loss = self.model(x.to("cuda")).sum()
        loss.backward()
        self.optimizer.step()
        if TEST:
            loss.item()

    def train(self, loader):
        for i, x in enumerate(loader):
            self.logs = i % 100 == 0
            self.changes = i % 100 == 0
            self.update(x, LATE)

    def toggle(self, state):
        self.changes = state

Trainer(3).train(torch.utils.data.DataLoader(a))
"""


@pytest.mark.parametrize(
    ("test", "late", "frequency"),
    [
        ("self.shifts", "False", "step"),
        ("self.changes", "False", "step"),
        ("not self.logs", "False", "step"),
        ("late", "i % 100", "step"),
        ("late", "True if extra else False", "step"),
        ("self.logs", "False", "interval"),
        ("late", "self.logs", "interval"),
        ("late", "not i % 100", "interval"),
        ("late", "bool(i % 100 == 0)", "interval"),
        ("late", "True if i % 100 == 0 else False", "interval"),
    ],
)
def test_frequency_of_reads_under_a_flag(test: str, late: str, frequency: str) -> None:
    found = facts(PROGRAM.replace("TEST", test).replace("LATE", late))
    (read,) = (fact for fact in found if isinstance(fact, HostRead))
    assert read.frequency == frequency
