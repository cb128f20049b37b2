"""Sizes that a training loop draws, every step or every few steps: multi-scale training."""

from __future__ import annotations

import pytest

from .said import in_step, said

TRAIN = """
device = torch_xla.device()
model = nn.Conv2d(3, 8, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    size, name = 320, ""
    for i, x in enumerate(loader):
        BODY
        x = F.interpolate(x.to(device), size=size)
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()

train([torch.ones(2, 3, 32, 32)] * 9)
"""


def sizes(body: str) -> list[str]:
    return [fact for fact in said(TRAIN.replace("BODY", body), "changing") if "size" in fact]


@pytest.mark.parametrize(
    "body",
    [
        "size = random.choice([320, 352, 384])",
        "size = random.choice(range(320, 608, 32))",
        "size = random.randint(10, 19) * 32",
        "if i % 10 == 0: size = random.choice([320, 352, 384])",
        "if i % 10 == 0: size = random.randint(10, 19) * 32",
    ],
)
def test_reports_drawn_sizes(body: str) -> None:
    assert sizes(body)


@pytest.mark.parametrize(
    "body",
    [
        "name = random.choice(['a', 'b'])",
        "other = random.choice([320, 352])",
        "x = random.choice([x, x + 1])",
        "size = 352",
    ],
)
def test_reports_no_size_that_is_not_drawn(body: str) -> None:
    assert sizes(body) == []


def test_random_rotations_are_programs() -> None:
    assert in_step("x[None].rot90(1)", "changing") == []
    assert in_step("x[None].rot90(random.randint(0, 3))", "changing") == [
        "changing-constant attribute: random.randint(0, 3)"
    ]
