"""Moves whose result an object keeps copy only in the first call."""

from __future__ import annotations

import pytest

from .said import said

NET = """
from registry import NETS

@NETS.register()
class Net(nn.Module):
    def __init__(self, rgb=(0.4, 0.5, 0.4)):
        super().__init__()
        self.net = nn.Conv2d(3, 3, 3)
        self.mean = torch.Tensor(rgb).view(1, 3, 1, 1)
        self.std = torch.Tensor(rgb).view(1, 3, 1, 1)

    def start(self):
        START

    def forward(self, x):
        BODY
        return self.net(x - self.mean)
"""


def copies(body: str, start: str = "pass") -> list[str]:
    found = said(NET.replace("BODY", body).replace("START", start))
    return [one for one in found if one.startswith("transfer constant")]


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("self.mean = self.mean.type_as(x)", "pass"),
        ("self.mean = self.mean.to(x.device)", "self.mean = self.mean.cuda()"),
        ("self.mean = kept = self.mean.cuda()", "pass"),
        ("self.mean = self.mean.to(x) if self.mean is not None else None", "pass"),
        ("self.mean = self.mean if self.mean.device == x.device else self.mean.to(x)", "pass"),
    ],
)
def test_says_nothing_of_a_move_that_the_object_keeps(body: str, start: str) -> None:
    assert copies(body, start) == []


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("mean = self.mean.type_as(x); x = x - mean", "pass"),
        ("self.std = self.mean.type_as(x)", "pass"),
        ("self.std = self.mean.type_as(x) if self.net.training else None", "pass"),
        ("self.mean = self.mean.type_as(x) if self.net.training else torch.ones(1)", "pass"),
        ("self.mean = self.mean.type_as(x)", "self.mean = torch.Tensor([1.0, 2.0]).view(1, 2)"),
        ("self.mean = self.mean.type_as(x)", "self.mean, self.std = self.std, self.mean"),
    ],
)
def test_reports_a_move_that_runs_again(body: str, start: str) -> None:
    assert "transfer constant: self.mean.type_as(x)" in copies(body, start)
