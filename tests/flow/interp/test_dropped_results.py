"""A loop whose model calls give nothing to anybody computes nothing: its graph does not grow."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
model = nn.Linear(3, 3).to(torch_xla.device())
kept = []
with torch.no_grad():
    for i in range(100):
        x = torch.ones(2, 3, device=torch_xla.device())
    for i in range(100):
        BODY
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("model(x)", []),
        ("model(x).sum(); model(x)", []),
        ("kept.append(model(x))", ["step-boundary none"]),
        ("x = model(x)", ["step-boundary none"]),
        ("kept += [model(x)]", ["step-boundary none"]),
    ],
)
def test_a_loop_that_only_calls_the_model(body: str, found: list[str]) -> None:
    boundaries = said(TEXT.replace("BODY", body.replace("; ", "\n        ")), "step-boundary")
    assert [line.partition(":")[0] for line in boundaries] == found
