"""Loops over what a generator of the program yields: once per step, at times, or without a step."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead, StepBoundary

from .said import facts

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def training(loader):
    for i, batch in enumerate(loader):
        loss = model(batch.to(device)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        STEP
    END

def layers(x):
    for layer in model.children():
        yield layer(x)

def main(loader):
    for LOOP
"""
EACH = {
    "the loss of each step": ("yield loss", "loss in training(loader):\n        print(loss.item())"),
    "a pair": ("yield i, loss", "i, loss in training(loader):\n        print(loss.item())"),
    "numbered": ("yield loss", "n, loss in enumerate(training(loader)):\n        print(loss.item())"),
    "formatted": ("yield loss", "loss in training(loader):\n        line = '%.3f' % loss"),
}
AT_TIMES = {
    "after the loop": ("kept = loss", "yield kept", "loss in training(loader):\n        print(loss.item())"),
    "every hundredth step": (
        "if i % 100 == 0: yield loss",
        "pass",
        "loss in training(loader):\n        print(loss.item())",
    ),
    "no loop of steps": ("pass", "pass", "x in layers(torch.ones(8, device=device)):\n        x.item()"),
}


def frequencies(step: str, end: str, loop: str) -> list[str]:
    """Return how often each read runs."""
    text = PROGRAM.replace("STEP", step).replace("END", end).replace("LOOP", loop) + "\nmain([])\n"
    return [fact.frequency for fact in facts(text) if isinstance(fact, HostRead)]


@pytest.mark.parametrize(("step", "end", "loop"), AT_TIMES.values(), ids=AT_TIMES)
def test_takes_no_other_generator_for_steps(step: str, end: str, loop: str) -> None:
    assert frequencies(step, end, loop) != []
    assert "step" not in frequencies(step, end, loop)


@pytest.mark.parametrize(("step", "loop"), EACH.values(), ids=EACH)
def test_runs_the_caller_s_loop_once_per_step(step: str, loop: str) -> None:
    assert frequencies(step, "pass", loop) == ["step"]


EVALUATES = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)

def outputs(loader):
    with torch.no_grad():
        for batch in loader:
            YIELDS

def main(loader, names):
    kept = []
    TAKES

main(torch.utils.data.DataLoader([1]), [])
"""
GIVES = ("yield model(batch.to(device))", "y = model(batch.to(device))\n            yield y")
WITHOUT_END = (
    "for y in outputs(loader): kept.append(y)",
    "for i, y in enumerate(outputs(loader)): kept.append(y)",
    "for y in outputs(loader):\n        if len(kept) % 100 == 0: print(y.sum().item())",
    "kept = list(outputs(loader))",
)
WITH_END = (
    "for y in outputs(loader): kept.append(y.cpu())",
    "for i, y in enumerate(outputs(loader)): kept.append(y.sum().item())",
    "for y, name in zip(outputs(loader), names): print(name, y.sum().item())",
    "steps = outputs(loader)\n    for name in names: kept.append(next(steps).cpu())",
)


def boundaries(yields: str, takes: str) -> list[str]:
    """Return what ends the steps of loops that something reports."""
    found = facts(EVALUATES.replace("YIELDS", yields).replace("TAKES", takes))
    return [fact.boundary for fact in found if isinstance(fact, StepBoundary) and fact.boundary != "read"]


@pytest.mark.parametrize("yields", GIVES)
@pytest.mark.parametrize("takes", WITHOUT_END)
def test_nothing_ends_the_steps_of_a_generator(yields: str, takes: str) -> None:
    assert boundaries(yields, takes) == ["none"]


@pytest.mark.parametrize("yields", GIVES)
@pytest.mark.parametrize("takes", WITH_END)
def test_who_takes_the_results_ends_the_steps_of_a_generator(yields: str, takes: str) -> None:
    assert boundaries(yields, takes) == []


@pytest.mark.parametrize("takes", WITHOUT_END)
def test_a_generator_ends_its_own_steps(takes: str) -> None:
    assert boundaries("yield model(batch.to(device)).cpu()", takes) == []
