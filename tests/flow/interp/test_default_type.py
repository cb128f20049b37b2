"""Tensors of the default type, and those that a default type or device does not move."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
import numpy as np

SET

def main(rays):
    net = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(9):
        x = MADE
        loss = net(x).mean()
        loss.backward()
        optimizer.step()

main(np.ones((9, 3)))
"""
TYPE = "torch.set_default_tensor_type('torch.cuda.FloatTensor')"


def left(made: str, default: str = TYPE) -> list[str]:
    return said(PROGRAM.replace("SET", default).replace("MADE", made), "transfer")


def test_a_plain_tensor_has_the_default_type() -> None:
    assert left("torch.Tensor(rays)") == []


@pytest.mark.parametrize("made", ["torch.from_numpy(rays)", "torch.FloatTensor(rays)"])
def test_others_stay_on_the_host(made: str) -> None:
    assert left(made) == ["transfer missing: x"]


@pytest.mark.parametrize("device", ["'cuda'", "torch_xla.device()"])
def test_a_default_device_leaves_plain_tensors_on_the_host(device: str) -> None:
    assert left("torch.Tensor(rays)", f"torch.set_default_device({device})") == ["transfer missing: x"]
