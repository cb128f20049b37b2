"""Tensors of a batch that are copied to the device and straight back, and loops that train nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

LOOP = """import torch
def run(loader, model, optimizer, device):
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
"""
TRAINS = "        loss = model(images).sum(); loss.backward(); optimizer.step()\n"
RUNS = "        with torch.no_grad():\n            out = model(images)\n"


def messages(body: str) -> list[str]:
    text = (LOOP + body).encode()
    options = engine.Options({"select": ["XLA905"]}, isolated=True, stdin=("train.py", text))
    return [finding.message for finding in engine.check([Path("train.py")], options).findings]


@pytest.mark.parametrize(
    "body",
    [
        RUNS + "        seen.append(out.argmax(1) == labels)\n",
        RUNS + "        seen.append((out.argmax(1) == labels).cpu())\n",
        RUNS + "        seen.append(score(out, labels).cpu())\n",
        RUNS,
    ],
)
def test_a_loop_that_evaluates_is_no_training(body: str) -> None:
    assert messages(body) == []


@pytest.mark.parametrize("loop", [RUNS, TRAINS])
def test_what_comes_straight_back_is_reported(loop: str) -> None:
    (message, *_) = [m for m in messages(loop + "        seen.append(labels.cpu().numpy())\n") if "back" in m]
    assert message.startswith("`labels` is copied to the device")


def test_a_loop_that_trains_copies_one_by_one() -> None:
    (message,) = messages(TRAINS.replace("sum()", "dot(labels)"))
    assert message.startswith("`images` and the batch's other tensors")
