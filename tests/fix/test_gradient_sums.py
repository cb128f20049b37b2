"""Sums over the gradients of parameters are read once, and need no step boundary in their loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def norm(parameters, data):
    total = 0.0
    for p in {over}:
        {read}
    return total ** 0.5


for x in torch.randn(8, 2, 4):
    optimizer.zero_grad()
    model(x.to(device)).sum().backward()
    print(norm(list(model.parameters()), [x]))
    optimizer.step()
"""


def written(read: str, over: str = "parameters") -> list[str]:
    """The lines that the fixes of reads write into the function."""
    source = HEAD.format(read=read.replace("\n", "\n        "), over=over)
    options = engine.Options(
        {"select": ["XLA101"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    body = (
        (outcome.stdin.text if outcome.stdin else source)
        .partition("total = 0.0\n")[2]
        .partition("    return")[0]
    )
    return [line.strip() for line in body.splitlines() if line not in source.splitlines()]


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        ("total += p.grad.norm(2).item() ** 2", "total += p.grad.norm(2).detach() ** 2"),
        ("n = p.grad.norm(2)\ntotal += n.item() ** 2", "total += n.detach() ** 2"),
        ("if p.grad is None: continue\ntotal += (p.grad**2).sum().item()",
         "total += (p.grad**2).sum().detach()"),
    ],
)  # fmt: skip
def test_the_sum_is_read_once_without_a_boundary(read: str, kept: str) -> None:
    assert written(read) == [kept, "total = torch.as_tensor(total).item()"]


@pytest.mark.parametrize(
    ("read", "over"),
    [
        ("total += model(p).item()", "data"),
        ("total += (model(p).sum() + model.weight.grad.sum()).item()", "data"),
    ],
)
def test_a_loop_that_runs_the_model_keeps_its_steps(read: str, over: str) -> None:
    lines = written(read, over)
    assert not lines or "step_boundary()" in lines


def test_a_power_of_the_number_that_is_no_number_stays() -> None:
    assert written("total += p.grad.norm(2).item() ** parameters") == []
