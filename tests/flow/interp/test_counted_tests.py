"""A test of the step's number that holds for a few numbers lets a branch run in some steps."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

PROGRAM = """
class Trainer:
    def __init__(self, loader):
        self.loader, self.last = loader, len(loader) - 1
        self.model = nn.Linear(8, 8).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)

    def update(self, x, n, flag=False):
        loss = self.model(x.to("cuda")).sum()
        for layer in range(3):
            loss = loss + layer
            INNER
        loss.backward()
        self.optimizer.step()
        if TEST:
            loss.item()

    def train(self, chosen, size):
        for n, x in enumerate(self.loader):
            self.update(x, n, flag=FLAG)

Trainer(torch.utils.data.DataLoader(a)).train([], 100)
"""


def frequency(test: str, inner: str = "pass", flag: str = "False") -> str:
    program = PROGRAM if test else PROGRAM.replace("if TEST:\n            loss.item()", "")
    text = program.replace("TEST", test).replace("INNER", inner).replace("FLAG", flag)
    (read,) = (fact for fact in facts(text) if isinstance(fact, HostRead))
    return read.frequency


@pytest.mark.parametrize(
    "test",
    [
        "n != 0",
        "not n == 0",
        "n > 0",
        "n == x[0]",
        "n == n",
        "n in self.loader",
        "n == 0 or x is None",
        "x.shape[0] == 8",
        "flag == 0",
    ],
)
def test_other_tests_hold_in_each_step(test: str) -> None:
    assert frequency(test) == "step"


def test_a_loop_inside_a_step_has_the_number_in_each() -> None:
    assert frequency("", inner="if layer == 1: loss.item()") == "step"


@pytest.mark.parametrize(
    "test",
    [
        "n == 0",
        "not n != 3",
        "n == len(self.loader) - 1",
        "x is not None and n == 2",
    ],
)
def test_few_numbers_are_some_steps(test: str) -> None:
    assert frequency(test) == "interval"


def test_a_caller_may_ask_for_the_number() -> None:
    assert frequency("flag", flag="n == 0") == "interval"
