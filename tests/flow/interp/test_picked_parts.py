"""Modules that a drawn number picks out of a list make another program where several blocks draw."""

from __future__ import annotations

import pytest

from xlamig.facts import ChangingPath

from .said import facts

PROGRAM = """
import random
import numpy as np

class Choice(nn.Module):
    def __init__(self):
        super().__init__()
        self.chosen = np.random.randint(3)
        self.each = [np.random.randint(3) for _ in range(2)]
        self.ops = nn.ModuleList([nn.Linear(8, 8), nn.Identity(), nn.ReLU()])

    def forward(self, x, i, n):
        return PICKED

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(LAYERS)

    def forward(self, x, path, n):
        for layer, i in zip(self.layers, path):
            x = layer(x, i, n)
        return x

def train(loader):
    model = Net().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for n, x in enumerate(loader):
        path = PATH
        model(x.to("cuda"), path, n).sum().backward()
        optimizer.step()

train(torch.utils.data.DataLoader([]))
"""


def confidences(picked: str, path: str, layers: str = "[Choice() for _ in range(4)]") -> list[str]:
    text = PROGRAM.replace("PICKED", picked).replace("PATH", path).replace("LAYERS", layers)
    return [fact.confidence for fact in facts(text) if isinstance(fact, ChangingPath)]


DRAWN = "[random.randint(0, 2) for _ in range(4)]"


@pytest.mark.parametrize(
    ("picked", "path"),
    [
        ("self.ops[i](x)", "[0, 1, 2, 0]"),
        ("self.ops[0](x)", DRAWN),
        ("self.ops[self.chosen](x)", DRAWN),
        ("self.ops[self.each[0]](x)", DRAWN),
        ("self.ops[n % 3](x)", "range(4)"),
        ("nn.Sequential(*self.ops[:2])(x)", DRAWN),
    ],
    ids=["fixed-path", "fixed-place", "drawn-once", "all-drawn-once", "in-turn", "fixed-slice"],
)
def test_modules_that_are_the_same_make_one_graph(picked: str, path: str) -> None:
    assert "likely" not in confidences(picked, path)


@pytest.mark.parametrize(
    "path", [DRAWN, "tuple(np.random.randint(3) for _ in range(4))", "[int(3 * random.random())] * 4"]
)
def test_drawn_modules_of_several_blocks_make_many(path: str) -> None:
    assert confidences("self.ops[i](x)", path) == ["likely"]


def test_one_drawn_module_makes_as_many_as_there_are() -> None:
    assert confidences("self.ops[i](x)", "[random.randint(0, 2)]", "[Choice()]") == ["possible"]
