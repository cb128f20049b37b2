"""Random branches in a loop make many graphs only where the loop does work on the device."""

from __future__ import annotations

import pytest

from xlamig.facts import ChangingPath

from .said import facts

PROGRAM = """
import random

def step(model, x, optimizer):
    noise = 1.0
    LOOP
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * noise
    return model(x)

def train(model, loader, optimizer):
    model = model.to("cuda")
    for x in loader:
        step(model, x.to("cuda"), optimizer).sum().backward()
        optimizer.step()

model = nn.Linear(8, 8)
train(model, torch.utils.data.DataLoader([]), torch.optim.SGD(model.parameters()))
"""


def confidences(*lines: str) -> list[str]:
    found = facts(PROGRAM.replace("LOOP", "\n    ".join(lines)))
    return [fact.confidence for fact in found if isinstance(fact, ChangingPath) and fact.via == "branch"]


@pytest.mark.parametrize(
    "lines",
    [
        ("while True:", "    noise = random.random()", "    if abs(noise) < 0.5:", "        break"),
        ("for _ in range(9):", "    if random.random() < 0.5:", "        continue", "    noise = noise * 2"),
        (
            "for _ in range(9):",
            "    noise = torch.randn(1).item()",
            "    if random.random() < 0.5:",
            "        break",
        ),
    ],
)
def test_draws_of_numbers_make_no_graphs(lines: tuple[str, ...]) -> None:
    assert "likely" not in confidences(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("for _ in range(9):", "    if random.random() < 0.5:", "        continue", "    x = model(x)"),
        ("for _ in range(9):", "    x = torch.relu(x)", "    if random.random() < 0.5:", "        break"),
        ("for _ in range(9):", "    if random.random() < 0.5:", "        x = x * 2"),
    ],
)
def test_draws_around_device_work_do(lines: tuple[str, ...]) -> None:
    assert confidences(*lines) == ["likely"]


BLOCKS = """
import random

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(8, 8)

    def forward(self, x):
        if self.training and random.random() < 0.5:
            return x
        return x + self.f(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        BUILT

    def forward(self, x):
        return self.layers(x)

def train(loader):
    model = Net().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x.to("cuda")).sum().backward()
        optimizer.step()

train(torch.utils.data.DataLoader([]))
"""


def confidences_of_blocks(built: str) -> list[str]:
    found = facts(BLOCKS.replace("BUILT", built))
    return [fact.confidence for fact in found if isinstance(fact, ChangingPath) and fact.via == "branch"]


@pytest.mark.parametrize(
    "built",
    [
        "self.layers = nn.Sequential(*[Block() for _ in range(9)])",
        "layers = []\n        for i in range(9):\n            layers.append(Block())\n"
        "        self.layers = nn.Sequential(*layers)",
    ],
)
def test_a_draw_in_each_of_several_blocks_makes_many_graphs(built: str) -> None:
    assert confidences_of_blocks(built) == ["likely"]


def test_a_draw_of_the_only_block_does_not() -> None:
    assert confidences_of_blocks("self.layers = Block()") == ["possible"]
