"""Code that only tries out a module when that is run: what it costs a device, where it chooses none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from xlamig import engine

NET = """
import torch
from torch import nn
from blocks import make

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = make(8)
    def forward(self, x, state):
        y = self.layer(x + state)
        return y, y * 2

if __name__ == "__main__":
    net = Net()
    x, state = torch.rand(1, 8), torch.zeros(1, 8)
    MOVE
    with torch.no_grad():
        for _ in range(10):
            y, state = net(x, state)
    DONE
"""
TRAIN = "from net import Net\nmodel = Net().cuda()\n"


@pytest.mark.parametrize(
    ("move", "done", "listed"),
    [
        ("pass", "print(y.shape)", []),
        ("net, x, state = net.cuda(), x.cuda(), state.cuda()", "print(y.shape)", ["XLA402"]),
        ("pass", "torch.load('net.pt', map_location=torch.device('cuda'))", ["XLA402"]),
    ],
)
def test_a_try_out_on_the_host_asks_for_nothing(
    tmp_path: Path, move: str, done: str, listed: list[str]
) -> None:
    text = dedent(NET).replace("MOVE", move).replace("DONE", done)
    (tmp_path / "net.py").write_text(text)
    (tmp_path / "train.py").write_text(TRAIN)
    result = engine.check([tmp_path], engine.Options(overrides={}, isolated=True))
    found = [finding for finding in result.findings if finding.code == "XLA402"]
    assert [finding.code for finding in found] == listed
    assert all(finding.severity == "info" for finding in found)
    every = engine.check([tmp_path], engine.Options(overrides={"include-no-action": True}, isolated=True))
    (kept,) = (finding for finding in every.findings if finding.code == "XLA402")
    assert (kept.help == "Leave it: nothing moves to a device here") is (not listed)
