"""Attributes that a method counts up by a variable: the end of one step is the start of the next."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
class Memory:
    def __init__(self, size):
        self.size = size
        self.at = 0
        self.rows = torch.zeros(size, 8, device="cuda")

    def push(self, keys, n):
        BODY

def train(model, loader, optimizer):
    model = model.to("cuda")
    memory = Memory(100)
    for x in loader:
        out = model(x.to("cuda"))
        memory.push(out.detach(), 8)
        out.sum().backward()
        optimizer.step()

train(nn.Linear(8, 8), torch.utils.data.DataLoader([1]), torch.optim.SGD([], lr=0.1))
"""


def written_at_numbers(body: str) -> bool:
    return bool(said(TEXT.replace("BODY", body.replace("; ", "\n        ")), "changing-constant"))


@pytest.mark.parametrize(
    "body",
    [
        "end = self.at + n; self.rows[self.at:end] = keys; self.at = end",
        "end = self.at + n; self.rows[self.at:end] = keys; self.at = end % self.size",
        "end = n + self.at; self.rows[self.at] = keys[0]; self.at = (end + 1) % self.size",
    ],
)
def test_a_variable_counts_the_attribute(body: str) -> None:
    assert written_at_numbers(body)


@pytest.mark.parametrize(
    "body",
    [
        "end = self.at + n; self.rows[self.at:end] = keys",  # which stays where it is
        "end = self.at + n; self.last = end; self.rows[self.at:end] = keys",
        "end = self.size + n; self.at = n; self.rows[self.size] = keys[0]",
    ],
)
def test_an_attribute_that_keeps_its_number(body: str) -> None:
    assert not written_at_numbers(body)
