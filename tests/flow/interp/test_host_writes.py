"""The host waits for a tensor of the device that is written into one of its own."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

PROGRAM = """
def evaluate(model, loader, device):
    kept = torch.zeros(5000PLACE)
    rows = torch.arange(4)
    for i, x in enumerate(loader):
        loss = model(x.to(device)).sum(1)
        WRITE
    return kept

device = torch.device("cuda")
evaluate(nn.Linear(8, 8).to(device), torch.utils.data.DataLoader([]), device)
"""


def of(write: str, place: str = "") -> list[str]:
    lines = said(PROGRAM.replace("WRITE", write).replace("PLACE", place))
    return [line for line in lines if line.startswith(("host-read", "transfer missing"))]


@pytest.mark.parametrize(
    ("write", "place"),
    [("kept[2] = 1.0", ""), ("kept[0:4] = x.sum(1)", ""), ("kept[0:4] = loss", ", device=device")],
    ids=["a-number", "the-host's", "on-the-device"],
)
def test_says_nothing_of_what_the_host_has(write: str, place: str) -> None:
    assert of(write, place) == []


@pytest.mark.parametrize("index", ["2", "0:4", "i * 4 : (i + 1) * 4", "..."])
@pytest.mark.parametrize("operator", ["=", "+="])
def test_waits_for_what_is_written(index: str, operator: str) -> None:
    assert of(f"kept[{index}] {operator} loss") == ["host-read copy: loss"]


@pytest.mark.parametrize("index", ["rows", "kept > 0"])
def test_a_vector_of_indices_raises(index: str) -> None:
    assert "transfer missing: kept" in of(f"kept[{index}] = loss")
