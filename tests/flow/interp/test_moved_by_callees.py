"""Modules that a callee moves: the constructor that makes them, or a function that is given them."""

from __future__ import annotations

import pytest

from .said import said

NET = """
device = torch_xla.device()

class Net(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        MOVE

    def forward(self, x):
        return self.fc(x)

def put(module):
    PUT

def run(place):
    net = Net(place)
    put(net)
    for step in range(9):
        loss = net(torch.ones(3, 4)).sum()
        loss.backward()
        torch_xla.sync()

run(PLACE)
"""
GIVEN = "transfer missing: torch.ones(3, 4)"


def of(move: str, put: str = "pass", place: str = "device") -> list[str]:
    """Return what is copied, or should be, for a module with these moves."""
    return said(NET.replace("MOVE", move).replace("PUT", put).replace("PLACE", place), "transfer")


@pytest.mark.parametrize(
    ("move", "put", "place"),
    [
        ("pass", "pass", "device"),
        ("self.to(place)", "pass", "'cpu'"),
        ("self.to(place)", "module.cpu()", "device"),
        ("other = Net(0).to(place)", "pass", "device"),
    ],
)
def test_stays_on_the_host(move: str, put: str, place: str) -> None:
    assert GIVEN not in of(move, put, place)


@pytest.mark.parametrize("move", ["self.to(place)", "self.to(device=place)", "self.cuda()"])
def test_a_constructor_moves_its_object(move: str) -> None:
    assert GIVEN in of(move)


def test_a_function_moves_what_it_is_given() -> None:
    assert GIVEN in of("pass", "module.to(device)")
