"""A name to which each iteration adds a whole number counts, also where its first value is not known."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
def train(model, loader, optimizer, state):
    model = model.to("cuda")
    n = state["step"]
    for x in loader:
        loss = model(x.to("cuda"))
        BODY
        loss.sum().backward()
        optimizer.step()

train(nn.Linear(8, 8), torch.utils.data.DataLoader([1]), torch.optim.SGD([], lr=0.1), torch.load("x"))
"""


def changes(body: str) -> bool:
    return bool(said(TEXT.replace("BODY", body.replace("; ", "\n        ")), "changing-constant"))


@pytest.mark.parametrize(
    "body",
    [
        "loss = loss.topk(n)[0]",
        "loss = loss.topk(n)[0]; n += len(x)",
        "loss = loss.topk(n)[0]; n += 0.5",
        "loss = loss.topk(n)[0]; n += loss",
        "loss = loss.topk(3)[0]; n += 1",
        "n = 4; loss = loss.topk(n)[0]; n += 1",
    ],
)
def test_no_counter(body: str) -> None:
    assert not changes(body)


@pytest.mark.parametrize(
    "body", ["loss = loss.topk(n)[0]; n += 1", "loss = loss.topk(int(n * 0.5))[0]; n += 2"]
)
def test_counter(body: str) -> None:
    assert changes(body)
