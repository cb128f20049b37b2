"""Masks that a loop never changes select as many elements in all of its iterations."""

from __future__ import annotations

from textwrap import indent

import pytest

from xlamig.facts import DynamicShape

from .said import facts

EDIT = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device).eval()

@torch.no_grad()
def edit(image, mask, steps):
    image, mask = image.to(device), mask.to(device)
    x = torch.randn_like(image)
    for i in range(steps):
        y = model(x)
BODY
        torch_xla.sync()
    return x

CALL
"""
ONCE = "edit(torch.ones(2, 8), torch.ones(8).int(), 50)"

TRAINING = """
optimizer = torch.optim.SGD(model.parameters())
for image, mask in torch.utils.data.DataLoader(images):
    edit(image, mask, 50).sum().backward()
    optimizer.step()
    torch_xla.sync()
"""


def unchanged(body: str, call: str = ONCE) -> list[bool]:
    text = EDIT.replace("BODY", indent(body, " " * 8)).replace("CALL", call)
    found = [f for f in facts(text) if isinstance(f, DynamicShape) and f.confidence != "possible"]
    return ["unchanged" in fact.proofs for fact in found]


@pytest.mark.parametrize(
    "body",
    [
        "x = y * y[:, mask > 0].mean()",
        "x = y * y[:, ~(mask == 1)].mean()",
        "y[:, mask != 1] = 0\nx = y",
    ],
)
def test_knows_a_mask_that_is_made_before_the_loop(body: str) -> None:
    assert unchanged(body) == [True]


@pytest.mark.parametrize(
    "body",
    [
        "x = y * y[:, mask > 0].mean()\nmask = mask * 0.5",
        "x = y * y[:, mask > 0].mean()\nmask[3] = 1",
        "x = y * y[:, mask > 0].mean()\nmask.sub_(1)",
        "chosen = mask > y[0]\nx = y * y[:, chosen].mean()",
        "x = y * y[:, mask > i].mean()",
    ],
)
def test_knows_no_mask_that_an_iteration_changes(body: str) -> None:
    assert not any(unchanged(body))


def test_knows_no_mask_that_each_step_of_a_caller_makes() -> None:
    assert not any(unchanged("x = y * y[:, mask > 0].mean()", TRAINING))
