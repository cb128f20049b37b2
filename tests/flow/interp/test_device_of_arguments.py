"""A helper that takes the device of the tensors among settings, and the CPU where none is a tensor."""

from __future__ import annotations

import pytest

from .said import said

SAMPLER = """
from torch.distributions import Distribution, Uniform

def place_of(settings):
    device = None
    for setting in settings:
        if not isinstance(setting, (torch.Tensor,)):
            continue
        device = setting.device
    if device is None:
        device = torch.device("cpu")
    return device

def sampled(shape, dist: Distribution):
    return dist.rsample(shape)

class Brightness(nn.Module):
    def __init__(self, SETTING):
        super().__init__()
        self.amount = amount

    def move(self, device: torch.device):
        self.sampler = Uniform(torch.zeros((), device=device), 1.0, validate_args=False)

    def forward(self, n: int):
        device = place_of([self.amount])
        return sampled((n,), self.sampler).to(device=device)
"""
COPY = "host-read copy: sampled((n,), self.sampler).to(device=device)"


@pytest.mark.parametrize("setting", ["amount: torch.Tensor", "amount"])
def test_the_device_of_a_tensor(setting: str) -> None:
    assert COPY not in said(SAMPLER.replace("SETTING", setting), "host-read")


@pytest.mark.parametrize(
    "setting", ["amount: float", "amount=0.5", "amount: torch.Tensor | tuple[float, float] | float = 0.5"]
)
def test_the_cpu_for_numbers(setting: str) -> None:
    assert COPY in said(SAMPLER.replace("SETTING", setting), "host-read")
