"""Models that a statement takes to the host, whatever else it does with them."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
from torch.utils.data import DataLoader

def main(dataset):
    net = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in DataLoader(dataset, 8):
        loss = net(x.cuda()).mean()
        loss.backward()
        optimizer.step()
    MOVED
    return [net(x).numpy() for x in dataset]

main([torch.ones(8)] * 4)
"""


def reads(moved: str) -> list[str]:
    return [line.partition(": ")[2] for line in said(PROGRAM.replace("MOVED", moved), "host-read")]


@pytest.mark.parametrize(
    "moved",
    [
        "net.cpu()",
        "net.cpu().eval()",
        "net.eval().cpu()",
        "net.eval().float().to('cpu')",
        "net = net.eval().cpu()",
    ],
)
def test_stays_there(moved: str) -> None:
    assert reads(moved) == []


@pytest.mark.parametrize("moved", ["net.eval()", "copied(net).eval().cpu()", "net.eval().bfloat16()"])
def test_stays_on_the_device(moved: str) -> None:
    assert reads(moved) == ["net(x)"]
