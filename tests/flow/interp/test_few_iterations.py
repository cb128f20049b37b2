"""Loops that an option's default runs once or twice: their iterations are no steps."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

PROGRAM = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=DEFAULT)
parser.add_argument("--epochs", type=int, default=DEFAULT)
args = parser.parse_args()
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
x = torch.ones(2, 8).to(device)

def prune(model, x, rounds=DEFAULT):
    for i in range(COUNT):
        BODY
        loss = model(x).sum()
        loss.backward()

prune(model, x)
"""


def ends(default: int, count: str, body: str = "pass") -> list[str]:
    """Return the boundaries of the program's steps."""
    text = (
        PROGRAM.replace("DEFAULT", str(default))
        .replace("COUNT", count)
        .replace("BODY", body.replace("UPDATE", "model(x).sum().backward(); optimizer.step()"))
    )
    return said(text, "step-boundary")


@pytest.mark.parametrize("default", [1, 2])
def test_takes_one_or_two_iterations_for_no_steps(default: int) -> None:
    assert ends(default, "args.rounds") == []


@pytest.mark.parametrize(
    ("default", "count"),
    [(30, "args.rounds"), (1, "args.epochs"), (1, "rounds"), (1, "len(args.rounds)"), (1, "opt.turns")],
    ids=["many", "epochs", "a-parameter", "another-count", "unknown"],
)
def test_takes_other_iterations_for_steps(default: int, count: str) -> None:
    assert ends(default, count) == [f"step-boundary none: for i in range({count})"]


def test_takes_the_loop_inside_for_one_of_steps() -> None:
    inside = "for row in range(90): model(x[row]).sum().backward()"
    assert ends(1, "args.rounds", inside) == ["step-boundary none: for row in range(90)"]
    assert ends(30, "args.rounds", inside)[-1] == "step-boundary none: for i in range(args.rounds)"


UPDATES = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1)
args = parser.parse_args()
model = nn.Linear(8, 8).to(torch_xla.device())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(x, loader):
    BODY

train(torch.ones(2, 8).to(torch_xla.device()), torch.utils.data.DataLoader([1]))
"""


def counted(loops: str) -> bool:
    """Return whether the number of an update counts steps."""
    body = f"{loops} model(x[i]).sum().backward(); optimizer.step()"
    return bool(said(UPDATES.replace("BODY", body), "changing-constant"))


def test_takes_one_or_two_updates_inside_a_loop_for_no_steps() -> None:
    assert not counted("for y in loader:\n        for i in range(args.steps):")


def test_takes_updates_in_no_other_loop_for_steps() -> None:
    """The default only tries the program out: the command line asks for more."""
    assert counted("for i in range(args.steps):")
