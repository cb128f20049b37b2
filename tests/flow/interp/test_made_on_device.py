"""A buffer that a module of the host makes on the device is there."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

PROGRAM = """
class Cache(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 8DEVICE))

    def total(self):
        return float(self.keys.sum())

def decode(model, device):
    cache = Cache(device)MOVED
    for _ in range(90):
        x = model(torch.ones(1, 8, device=device))
        cache.total()

device = torch.device("cuda")
decode(nn.Linear(8, 8).to(device), device)
"""
READ = ["host-read item: float(self.keys.sum())"]


def reads(device: str, moved: str = "") -> list[str]:
    lines = said(PROGRAM.replace("DEVICE", device).replace("MOVED", moved), "host-read")
    return [line for line in lines if "self.keys" in line]


@pytest.mark.parametrize(("device", "moved"), [(", device=device", ""), ("", ".to(device)")])
def test_a_buffer_on_the_device(device: str, moved: str) -> None:
    assert reads(device, moved) == READ


def test_a_buffer_on_the_host() -> None:
    assert reads("") == []
