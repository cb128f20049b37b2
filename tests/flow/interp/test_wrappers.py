"""Modules that run another module: wrappers of torch, subclasses of them, and modules of the project."""

from __future__ import annotations

import pytest

from .said import STEP, facts, said

PICKS = """
class Loss(nn.Module):
    def forward(self, pred, target):
        return pick(pred, target)

def pick(pred, target):
    return pred[target > 0].sum()
"""
SUBCLASS = """
class Parallel(nn.DataParallel):
    def scatter(self, inputs, kwargs, device_ids):
        return inputs, kwargs
"""
OWN_CONSTRUCTOR = """
class Parallel(nn.parallel.DistributedDataParallel):
    def __init__(self, wrapped, name):
        super().__init__(wrapped, device_ids=[0])
        self.name = name
"""
OWN_FORWARD = """
class Parallel(nn.DataParallel):
    def forward(self, pred, target):
        return pred[target < 9].sum()
"""
PASSES_ON = """
class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args, **kwargs):
        return self.inner(*args, **kwargs)
"""


def selections(classes: str, wrapped: str) -> list[str]:
    """Return the events of masks in a loss that a training step calls through a wrapper."""
    made = f"criterion = {wrapped}.to(device)\n\ndef train"
    body = "loss = criterion(model(x), x)"
    return said(PICKS + classes + STEP.replace("def train", made, 1).replace("BODY", body), "dynamic-shape")


def test_a_wrapper_with_its_own_forward_runs_that() -> None:
    found = selections(OWN_FORWARD, "Parallel(nn.Linear(2, 2))")
    assert "dynamic-shape mask-read: pred[target < 9]" in found


@pytest.mark.parametrize(
    ("classes", "wrapped"),
    [
        ("", "nn.DataParallel(Loss())"),
        (SUBCLASS, "Parallel(Loss())"),
        (SUBCLASS, "Parallel(module=Loss())"),
        (OWN_CONSTRUCTOR, "Parallel(Loss(), 'loss')"),
        (PASSES_ON, "Wrapper(Loss())"),
    ],
)
def test_runs_the_module_that_a_wrapper_was_given(classes: str, wrapped: str) -> None:
    assert selections(classes, wrapped) == ["dynamic-shape mask-read: pred[target > 0]"]


HANDED = """
from apex import amp
from wrapping import wrap

class Net(nn.Module):
    def longest(self, x):
        return torch.max(x).item()

def run(loader, flag):
    device = torch_xla.device()
    model = Net().to(device)
    other = nn.Linear(2, 2).to(device)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    WRAPPED
    for x in loader:
        x = x.to(device)
        loss = other(x) / model.longest(x)
        loss.backward()
        optimizer.step()
        torch_xla.sync()

run([torch.ones(2, 8)], True)
"""


def frequencies(line: str) -> set[str]:
    """Return how often the method of a module runs that an unknown function may give back."""
    return {fact.frequency for fact in facts(HANDED.replace("WRAPPED", line)) if fact.kind == "host-read"}


@pytest.mark.parametrize(
    "line",
    [
        "model, optimizer = amp.initialize(model, optimizer, opt_level='O2')",
        "if flag: model, optimizer = amp.initialize(model, optimizer)",
        "model = wrap(model)",
        "model = wrap(module=model, rank=0)",
    ],
)
def test_runs_the_module_that_an_unknown_function_hands_back(line: str) -> None:
    assert frequencies(line) == {"step"}


@pytest.mark.parametrize(
    "line", ["model = wrap(other)", "model, optimizer = wrap(optimizer, None)", "model = wrap()"]
)
def test_knows_nothing_of_what_gets_another_name(line: str) -> None:
    assert "step" not in frequencies(line)
