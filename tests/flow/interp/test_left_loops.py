"""A branch that leaves a loop of steps runs once for each run of the loop."""

from __future__ import annotations

from textwrap import indent

import pytest

from .said import STEP, facts

OUTER = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for batch in loader:
    x = batch.to(device)
    for attempt in range(n):
        loss = model(x).sum()
        if loss.item() < 1:
            z = x.cpu()
            LEAVE
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def frequencies(text: str) -> set[str]:
    """Return how often the host reads `x`, which it copies."""
    return {fact.frequency for fact in facts(text) if fact.kind == "host-read" and fact.via == "copy"}


def in_body(body: str) -> set[str]:
    return frequencies(STEP.replace("BODY", indent(body, " " * 8).strip()))


@pytest.mark.parametrize("leave", ["continue", "pass", "loss = loss * 2"])
def test_reads_every_step_where_the_loop_goes_on(leave: str) -> None:
    assert in_body(f"if extra:\n    z = x.cpu()\n    {leave}") == {"step"}


def test_reads_every_step_after_a_branch_that_leaves() -> None:
    assert in_body("if extra:\n    break\nz = x.cpu()") == {"step"}


def test_reads_every_step_where_only_an_inner_loop_ends() -> None:
    assert in_body("for part in range(n):\n    if extra:\n        z = x.cpu()\n        break") == {"step"}
    assert frequencies(OUTER.replace("LEAVE", "break")) == {"step"}


@pytest.mark.parametrize("leave", ["break", "return", "return z"])
def test_reads_once_where_the_loop_ends(leave: str) -> None:
    assert in_body(f"if extra:\n    z = x.cpu()\n    {leave}") == {"once"}
    assert in_body(f"if not extra:\n    pass\nelse:\n    z = x.cpu()\n    {leave}") == {"once"}
    assert in_body(f"if extra:\n    if n:\n        z = x.cpu()\n    {leave}") == {"once"}


def test_reads_once_where_the_function_ends_in_an_inner_loop() -> None:
    assert in_body("for part in range(n):\n    if extra:\n        z = x.cpu()\n        return z") == {"once"}


def test_reads_every_epoch_where_the_epoch_ends() -> None:
    text = STEP.replace("BODY", "if extra:\n            z = x.cpu()\n            break")
    text = text.replace(
        "train([torch.ones(2, 8)] * 9, None)", "for epoch in range(9):\n    train(loader, None)"
    )
    assert frequencies(text) == {"epoch"}
