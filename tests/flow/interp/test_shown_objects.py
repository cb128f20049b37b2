"""Formats that show an attribute of what they are given, by a name, a number or in turn."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
class Meter:
    def __init__(self):
        self.val, self.count = 0, 0

    def update(self, val):
        self.val, self.count = val, self.count + 1

device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
m = Meter()
for batch in [torch.ones(2, 8)] * 9:
    m.update(model(batch.to(device)).sum())
    line = TEXT
    torch_xla.sync()
"""


def formats(text: str) -> list[str]:
    """Return the tensors that a text shows."""
    return [line.partition(": ")[2] for line in said(PROGRAM.replace("TEXT", text), "host-read")]


@pytest.mark.parametrize("text", ["'{m.count}'.format(m=m)", "'{.count}'.format(m)", "'{m.val'.format(m=m)"])
def test_leaves_numbers_and_broken_formats_alone(text: str) -> None:
    assert formats(text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("'{m.val:.3f}'.format(m=m)", "m.val"),
        ("'{1.val}'.format(3, m)", "m"),
        ("'{} {.val}'.format(3, m)", "m"),
        ("'{name} {.val}'.format(m, name=3)", "m"),
        ("'{val}'.format(**m.__dict__)", "val"),
        ("'{val}'.format(**vars(m))", "val"),
    ],
)
def test_shows_the_tensor_that_an_object_holds(text: str, shown: str) -> None:
    assert formats(text) == [shown]
