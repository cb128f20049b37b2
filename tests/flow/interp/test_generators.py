"""Loops over what a generator of the program yields: once per step, at times, or without a step."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

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
