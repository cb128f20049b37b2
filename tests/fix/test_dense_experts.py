"""Experts that select their tokens compute all of them, and mask the results."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

SOURCE = """import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, ranks = torch.where(chosen == i)
            out[rows] += weights[rows, ranks, None] * expert(x[rows])
        return out


def train(loader):
    device = torch.device("cuda")
    model = Experts().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in loader:
        loss = (model(x.to(device)) - y.to(device)).square().mean()
        loss.backward()
        optimizer.step()
"""
WRITTEN = [
    "share = (weights * (chosen == i)).sum(-1, keepdim=True)",
    "out += share * expert(x)",
]


def fixed(source: str) -> list[str]:
    options = engine.Options(
        {"select": ["XLA207"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None
    old = source.splitlines()
    return [line.strip() for line in outcome.stdin.text.splitlines() if line not in old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (
            "weights[rows, ranks, None] * expert(x[rows])",
            "expert(x[rows]) * weights[rows, ranks, None]",
        ),
    ],
)
def test_the_sum_is_masked(old: str, new: str) -> None:
    assert fixed(SOURCE.replace(old, new) if old else SOURCE) == WRITTEN


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chosen == i", "chosen == 0"),
        ("out[rows] +=", "out[rows] ="),
        ("out[rows] +=", "out[ranks] +="),
        ("weights[rows, ranks, None]", "weights[rows, 0, None]"),
        ("expert(x[rows])", "expert(x[ranks])"),
        ("expert(x[rows])", "expert(x[rows], ranks)"),
        ("        return out", "            counts = rows.numel()\n        return out"),
        ("        return out", "        return out, rows"),
        ("out = torch.zeros_like(x)", "out = share = torch.zeros_like(x)"),
    ],
)
def test_another_loop_is_left(old: str, new: str) -> None:
    assert fixed(SOURCE.replace(old, new)) == []


@pytest.mark.evidence
def test_values_and_gradients_are_equal() -> None:
    import torch

    def run(lines: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        x, weights = torch.rand(9, 4, requires_grad=True), torch.rand(9, 2, requires_grad=True)
        experts = [torch.nn.Linear(4, 4) for _ in range(3)]
        chosen = torch.rand(9, 3).topk(2).indices
        space = {"torch": torch, "x": x, "weights": weights, "chosen": chosen, "experts": experts}
        exec(f"out = torch.zeros_like(x)\nfor i, expert in enumerate(experts):\n{lines}", space)
        space["out"].square().sum().backward()
        leaves = [x, weights, *(p for expert in experts for p in expert.parameters())]
        return [space["out"].detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]

    before = "\n".join(line[8:] for line in SOURCE.splitlines()[14:16])
    after = "\n".join(f"    {line}" for line in WRITTEN)
    for one, other in zip(run(before), run(after), strict=True):
        torch.testing.assert_close(one, other)
