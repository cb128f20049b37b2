"""Updates by optimizers that a project defines."""

from __future__ import annotations

import pytest

from .said import facts

OWN = """
class Own(BASE):
    def METHOD(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])

def train(model, loader, device):
    optimizer = Own(model.parameters(), lr=0.1)
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

train(nn.Linear(4, 4).to("cuda"), torch.utils.data.DataLoader(data), "cuda")
"""

WRAPS = """
class Slow(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
    def step(self):
        self.inner.step()

model = nn.Linear(4, 4).to("cuda")
optimizer = Slow(torch.optim.SGD(model.parameters(), lr=0.1))
for x in torch.utils.data.DataLoader(data):
    model(x.to("cuda")).mean().backward()
    optimizer.step()
"""


def optimizers(text: str) -> list[str]:
    return [f.optimizer for f in facts(text) if f.kind == "step-boundary"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "base", ["torch.optim.Optimizer", "torch.optim.SGD", "torch.optim.optimizer.Optimizer"]
)
@pytest.mark.parametrize("method", ["step", "unlike"])
def test_the_step_of_an_own_class_updates(base: str, method: str) -> None:
    text = OWN.replace("BASE", base).replace("METHOD", method)
    assert optimizers(text) == ["plain"]


@pytest.mark.parametrize("base", ["object", "torch.optim.lr_scheduler.LRScheduler", "nn.Module"])
def test_the_step_of_another_class_updates_nothing(base: str) -> None:
    assert "plain" not in optimizers(OWN.replace("BASE", base).replace("METHOD", "step"))


def test_an_optimizer_that_wraps_another_updates_once() -> None:
    assert optimizers(WRAPS) == ["plain"]
