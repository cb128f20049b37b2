"""Loops over parts of a sample, and what only looks like one."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
device = torch_xla.device()
net, head = nn.Linear(8, 8).to(device), nn.Linear(8, 8).to(device)

@torch.no_grad()
def predict(samples):
    kept = []
    for sample in samples:
        x = net(sample.to(device))
        for part in PARTS:
            kept.append(head(BODY))
    return kept

predict([torch.ones(2, 8)] * 9)
"""


def _loop(parts: str, body: str) -> str:
    (found,) = said(TEXT.replace("PARTS", parts).replace("BODY", body), "step-boundary")
    return found.removeprefix("step-boundary none: for ")


def test_parts_of_a_sample_are_no_steps() -> None:
    assert _loop("([0, 1], [1, 0])", "x[torch.tensor(part).to(device)]") == "sample in samples"


@pytest.mark.parametrize(
    ("parts", "body"), [("range(256)", "x[:, part]"), ("[torch.ones(8)] * 9", "part.to(device) + x")]
)
def test_positions_and_batches_are_steps(parts: str, body: str) -> None:
    assert _loop(parts, body) == f"part in {parts}"
