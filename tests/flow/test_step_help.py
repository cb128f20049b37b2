"""The advice of a missing step boundary names the call that it belongs after, or the end of the iteration."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
def train(model, loader, optimizer, optimizer_D, scaler, amp, update):
    model.to("xla")
    for i, x in enumerate(loader):
        loss = model(x.to("xla")).sum()
        loss.backward()
"""
CASES = {
    "optimizer_D.step()": "Call `torch_xla.sync()` right after `optimizer_D.step()`",
    "optimizer.step(); optimizer_D.step()": "Call `torch_xla.sync()` right after `optimizer_D.step()`",
    "optimizer.step(); print(loss.item())": "right after `optimizer.step()`, and read values",
    "loss.abs()": "as the last statement of the iteration",
    "if amp: scaler.step(optimizer)\nelse: optimizer.step()": "below the branches that update",
    "if i % 4 == 0: optimizer.step()": "iteration, or right after `optimizer.step()`",
    "with torch.no_grad(): optimizer.step()": "right after `optimizer.step()`",
}


@pytest.mark.parametrize("lines", CASES)
def test_help_says_where_the_boundary_belongs(lines: str) -> None:
    text = HEAD + "".join(f"        {part}\n" for part in lines.replace("; ", "\n").split("\n"))
    options = engine.Options({"select": ["XLA401"]}, isolated=True, stdin=("train.py", text.encode()))
    (finding,) = engine.check([Path("train.py")], options).findings
    assert CASES[lines] in (finding.help or "")
