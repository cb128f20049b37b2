"""A loop that its first iteration leaves has no steps."""

from __future__ import annotations

from textwrap import indent

import pytest

from .said import said

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)

def evaluate(loader, extra):
    outputs = []
    with torch.no_grad():
        for x in loader:
            y = model(x.to(device))
BODY

evaluate([torch.ones(2, 8)] * 9, None)
"""


def ends(body: str) -> list[str]:
    return said(PROGRAM.replace("BODY", indent(body, " " * 12)), "step-boundary")


@pytest.mark.parametrize("last", ["break", "return y", "if extra:\n    y = y * 2\nbreak", "raise ValueError"])
def test_a_single_iteration_is_no_step(last: str) -> None:
    assert ends(f"outputs.append(y)\n{last}") == []


@pytest.mark.parametrize(
    "last", ["pass", "if extra:\n    break", "if extra:\n    continue\nbreak", "for z in y:\n    break"]
)
def test_further_iterations_are_steps(last: str) -> None:
    assert ends(f"outputs.append(y)\n{last}") != []
