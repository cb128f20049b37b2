"""A loop that calls a different part of a module every iteration is a loop over layers, not over batches."""

from __future__ import annotations

import pytest

from .said import said

NET = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n, self.cutoff = n, [0, 3, 6]
        self.tail = nn.ModuleList([nn.Linear(8, 8) for _ in range(n)])
        self.norms = nn.ModuleList([nn.LayerNorm(8) for _ in range(n)])
    def log_prob(self, x, xs, loader, model):
        lsm, outs = nn.LogSoftmax(dim=1).cuda(), []
        for TARGET in OVER:
            outs.append(CALL)
        return outs
"""


def boundaries(target: str, over: str, call: str) -> list[str]:
    text = NET.replace("TARGET", target).replace("OVER", over).replace("CALL", call)
    return [line for line in said(text, "step-boundary") if not line.startswith("step-boundary sync")]


@pytest.mark.parametrize(
    ("target", "over", "call"),
    [
        ("x", "xs", "lsm(self.tail[0](x))"),
        ("x", "loader", "lsm(self.tail[-1](x))"),
        ("i, x", "enumerate(loader)", "lsm(self.tail[i % 2](x))"),
        ("i", "range(len(xs))", "lsm(self.tail[0](xs[i]))"),
        ("i", "range(len(xs))", "model(xs[i])"),
        ("x", "xs", "model(x)"),
    ],
)
def test_reports_loops_over_batches(target: str, over: str, call: str) -> None:
    assert len(boundaries(target, over, call)) == 1


@pytest.mark.parametrize(
    ("target", "over", "call"),
    [
        ("i", "range(len(self.tail))", "lsm(self.tail[i](x))"),
        ("i", "range(self.n)", "lsm(self.tail[i](x))"),
        ("i", "range(len(self.cutoff) - 1)", "model(self.tail[i + 1](x))"),
        ("i, size", "enumerate(self.cutoff)", "model(self.tail[i](x)[:size])"),
        ("i", "range(self.n)", "model(getattr(self, f'tail{i}')(x))"),
        ("i", "range(self.n)", "model(getattr(self, 'tail' + str(i))(x))"),
        ("a, b", "zip(self.tail, self.norms)", "lsm(b(a(x)))"),
        ("i, (a, b)", "enumerate(zip(self.tail, self.norms))", "lsm(b(a(x)))"),
    ],
)
def test_reports_nothing_for_loops_over_layers(target: str, over: str, call: str) -> None:
    assert boundaries(target, over, call) == []


STACKED = """
def stacked(model, n):
    def NAME(x, hidden):
        outs = []
        for i in range(n):
            out = model(x.cuda(), hidden[i])
            outs.append(out)
        return torch.cat(outs)
    return NAME
"""


@pytest.mark.parametrize(("name", "told"), [("forward", 0), ("evaluate", 1)])
def test_a_function_that_makes_a_forward_pass_loops_over_layers(name: str, told: int) -> None:
    assert len(said(STACKED.replace("NAME", name), "step-boundary")) == told
