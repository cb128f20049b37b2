"""Objects of other libraries that are handed a loss and an optimizer: they update the parameters."""

from __future__ import annotations

import pytest

from xlamig.facts import StepBoundary

from .said import facts

PROGRAM = """
from elsewhere import Scaler, amp, track

def train(model, criterion, loader, optimizer, scale):
    for x, y in loader:
        x, y = x.to("cuda"), y.to("cuda")
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        BODY

model = nn.Linear(8, 8).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([], batch_size=4, drop_last=True)
train(model, nn.CrossEntropyLoss(), loader, optimizer, Scaler())
"""


def boundaries(body: str) -> list[str]:
    text = PROGRAM.replace("BODY", body.replace("\n", "\n        "))
    found = [fact for fact in facts(text) if isinstance(fact, StepBoundary) and fact.loop == "training"]
    return [fact.boundary for fact in found]


@pytest.mark.parametrize(
    "body",
    [
        "track(loss, model)",
        "scale(loss)",
        "print(loss.shape, optimizer)",
        "scale.save(model, optimizer)",
        "scale(optimizer, loss.shape)",
        "with amp.scale_loss(loss, optimizer) as scaled:\n    pass",
    ],
)
def test_other_calls_update_nothing(body: str) -> None:
    assert boundaries(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "scale(loss, optimizer, clip_grad=1.0, parameters=model.parameters())",
        "scale(loss, optimizer=optimizer)",
        "scale.step(loss, optimizer)",
        "if scale is not None:\n    scale(loss, optimizer)\nelse:\n    loss.backward()\n    optimizer.step()",
    ],
)
def test_an_object_given_a_loss_and_an_optimizer_updates(body: str) -> None:
    assert boundaries(body) == ["none"]


@pytest.mark.parametrize("sync", [True, False])
def test_apex_scales_before_the_update(sync: bool) -> None:
    end = "\ntorch_xla.sync()" if sync else ""
    body = "with amp.scale_loss(loss, optimizer) as scaled:\n    scaled.backward()\noptimizer.step()" + end
    assert boundaries(body) == ["sync" if sync else "none"]
