"""A name says that an index is a mask, unless what makes it gives integers."""

from __future__ import annotations

import pytest

from .said import in_step

INDICES = [
    "mask = torch.arange(0, x.size(0)).to(device)[i * 2 : (i + 1) * 2]",
    "mask = torch.arange(x.size(0), device=device)[2:]",
    "mask = torch.randperm(8, device=device)[:4]",
    "mask = x.sum(1).argsort()[:4]",
    "mask = x.sum(1).topk(4).indices",
    "mask = x.sum(1).topk(4)[1]",
    "values, mask = x.sum(1).sort()",
    "mask = helper(x).exp().argmax(1)",
    "mask = torch.arange(0, 8, helper(x), device=device)",
]
MASKS = [
    "mask = helper(x).detach()",
    "mask = helper(x).detach()[:, 1:]",
    "mask = torch.arange(8, device=device)[2:] < x.sum()",
    "mask = torch.arange(8, device=device).repeat(2)[:8] == x.argmax(1)",
    "mask = torch.randint(0, 2, (2,), device=device).bool()",
    "mask = torch.randperm(8, device=device)[:2] > 3",
]


@pytest.mark.parametrize("code", INDICES)
def test_integers_are_no_mask(code: str) -> None:
    found = in_step(f"from helpers import helper\n{code}; y = x[mask]", "dynamic-shape")
    assert [one for one in found if "mask" in one] == []


@pytest.mark.parametrize("code", MASKS)
def test_what_is_compared_or_unknown_is_one(code: str) -> None:
    found = in_step(f"from helpers import helper\n{code}; y = x[mask]", "dynamic-shape")
    assert found == ["dynamic-shape mask-read: x[mask]"]
