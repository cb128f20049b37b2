"""Comprehensions and `map` over the batches of a loader: each element is a step, like an iteration."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead, StepBoundary

from .said import facts

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def evaluate(batch):
    return model(batch.to(device))

def train(batch):
    loss = model(batch.to(device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()

def main(loader, models):
    HERE

main(torch.utils.data.DataLoader([1]), [model, model])
"""
WITHOUT_END = (
    "y = [model(b.to(device)) for b in loader]",
    "y = torch.cat([evaluate(b) for b in loader])",
    "y = sum(evaluate(b).sum() for b in loader) / len(loader)",
    "y = {i: evaluate(b) for i, b in enumerate(loader)}",
    "y = list(map(evaluate, loader))",
)
SILENT = (
    "y = [b for b in loader]",
    "y = sum(len(b) for b in loader)",
    "y = [b.to(device) for b in loader]",
    "y = [evaluate(b).cpu() for b in loader]",
    "y = sum(evaluate(b).sum().item() for b in loader)",
    "y = list(map(lambda b: evaluate(b).cpu(), loader))",
    "y = [m(torch.ones(8, device=device)) for m in models]",
    "y = list(map(evaluate, [torch.ones(8), torch.ones(8)]))",
)


def boundaries(here: str) -> list[tuple[str, str]]:
    """Return the loops of which nothing but a read ends the steps, each with its kind."""
    found = [fact for fact in facts(PROGRAM.replace("HERE", here)) if isinstance(fact, StepBoundary)]
    return [(fact.loop, fact.boundary) for fact in found if fact.boundary != "read"]


@pytest.mark.parametrize("here", WITHOUT_END)
def test_nothing_ends_the_steps_of_a_comprehension(here: str) -> None:
    assert boundaries(here) == [("comprehension", "none")]


@pytest.mark.parametrize("here", SILENT)
def test_takes_no_other_comprehension_for_steps(here: str) -> None:
    assert boundaries(here) == []


@pytest.mark.parametrize("here", ["y = [train(b) for b in loader]", "y = sum(map(train, loader))"])
def test_a_comprehension_that_trains_is_no_epoch_loop_s_step(here: str) -> None:
    assert boundaries(here) == [("training", "none")]
    assert boundaries(f"for epoch in range(9):\n        {here}\n        print(y)") == [("training", "none")]


@pytest.mark.parametrize(
    ("here", "frequency"),
    [
        ("y = [evaluate(b).cpu() for b in loader]", "step"),
        ("y = sum(map(lambda b: evaluate(b).sum().item(), loader))", "step"),
        ("y = torch.cat([evaluate(b) for b in loader]).cpu()", "once"),
    ],
)
def test_each_element_reads_every_step(here: str, frequency: str) -> None:
    found = facts(PROGRAM.replace("HERE", here))
    assert [fact.frequency for fact in found if isinstance(fact, HostRead)] == [frequency]
