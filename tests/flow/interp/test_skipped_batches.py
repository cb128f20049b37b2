"""How often the branch runs that leaves out a batch by a value of the device."""

from __future__ import annotations

import pytest

from .said import IMPORTS, facts

PROGRAM = """
net = nn.Linear(3, 3).to(torch_xla.device())
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def train(loader, limit, training):
    for x in loader:
        loss = net(x.to(torch_xla.device())).sum()
        norm = net.weight.norm()
        STEP

train([], 3, True)
"""
UPDATE = "loss.backward(); optimizer.step()"


def frequency(*lines: str) -> str:
    """Return how often the norm is printed."""
    text = PROGRAM.replace("STEP", "\n        ".join(lines))
    whole = IMPORTS + text
    reads = [fact for fact in facts(text) if fact.kind == "host-read"]
    return next(fact.frequency for fact in reads if "norm" in whole[slice(*fact.span)])


@pytest.mark.parametrize(
    "lines",
    [
        ("if loss.item() < limit:", f"    {UPDATE}", "else:", "    print(norm.item())"),
        ("if loss.item() > limit:", "    print(norm.item())", "else:", f"    {UPDATE}"),
        ("if loss > limit:", "    print(norm.item())", "    continue", UPDATE),
        ("if loss.item() > limit and training:", "    print(norm.item())", "    continue", UPDATE),
    ],
)
def test_a_branch_without_the_update_runs_in_some_steps(lines: tuple[str, ...]) -> None:
    assert frequency(*lines) == "interval"


@pytest.mark.parametrize(
    "lines",
    [
        ("if training:", f"    {UPDATE}", "else:", "    print(norm.item())"),
        ("if loss.item() < limit:", f"    {UPDATE}", "    print(norm.item())"),
        ("if loss.item() < limit:", "    limit = limit / 2", "else:", "    print(norm.item())", UPDATE),
        ("if loss.item() < limit:", "    timer.step()", "else:", "    print(norm.item())", UPDATE),
        ("if training:", "    print(norm.item())", "    continue", UPDATE),
        (UPDATE, "if loss.item() < limit:", "    print(norm.item())", "    continue", "limit = limit / 2"),
    ],
)
def test_another_branch_may_run_every_step(lines: tuple[str, ...]) -> None:
    assert frequency(*lines) == "step"
