"""Optimizers that compile in every step update copies on the host."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
model = nn.Linear(4, 4).to(device)
optimizer = {made}
for x in loader:
    def closure():
        optimizer.zero_grad()
        loss = model(x.to(device)).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
"""


def made(code: str) -> list[str]:
    """The line that makes the optimizer, if the fix changes it; without the definition in the file."""
    return [line for line in fixed(CODE.format(made=code), "XLA411") if line.startswith("optimizer = ")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "torch.optim.LBFGS(model.parameters(), max_iter=4)",
            "update_on_host(torch.optim.LBFGS)(model.parameters(), max_iter=4)",
        ),
        ("torch.optim.Rprop(model.parameters())", "update_on_host(torch.optim.Rprop)(model.parameters())"),
    ],
)
def test_the_class_is_wrapped(before: str, after: str) -> None:
    assert made(before) == [f"optimizer = {after}"]


@pytest.mark.parametrize(
    "code", ["torch.optim.Adafactor(model.parameters())", "torch.optim.AdamW(model.parameters())"]
)
def test_others_stay(code: str) -> None:
    assert made(code) == []
