"""A name says that an index is a mask, unless what makes it gives integers."""

from __future__ import annotations

import pytest

from .said import in_step, said

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


GRAPH = """
device = torch_xla.device()

def pooled(x, indices):
    return library.pool(x, indices)

def shifted(x, rows):
    return x - pooled(x, rows)[rows]

def kept(x, rows):
    return x[rows]

def train(loader, model, optimizer):
    for x, mask, other in loader:
        x, mask = x.to(device), mask.to(device)
        mean = model(x)
        noise = MADE
        loss = (USED).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
ROWS = [
    ("torch.randn(len(mask), 3)", "mean[mask] * noise"),
    ("torch.randn((mask.shape[0], 3), device=device)", "noise + mean[mask]"),
    ("sampled(size=(mask.size(0), 3))", "x - (mean[mask] - noise)"),
    ("torch.zeros(9, device=device).scatter_add(0, mask, x)", "mean[mask] * x"),
    ("torch.index_select(mean, 0, mask)", "mean[mask]"),
    ("torch.gather(mean, dim=0, index=mask)", "mean[mask]"),
    ("pooled(x, mask)", "mean[mask]"),
    ("shifted(x, rows=mask)", "mean[mask]"),
]
PICKED = [
    ("torch.randn(len(mask), 3)", "mean[mask] * 3 + noise[mask]"),
    ("torch.randn(len(x), 3)", "mean[mask] * noise"),
    ("torch.randn(len(mask), 3)[mask]", "mean[mask] * noise"),
    ("torch.masked_fill(x, mask, 0)", "mean[mask] * noise"),
    ("x.scatter_add(0, other, mask)", "mean[mask]"),
    ("torch.randn(3, len(mask))", "mean[mask] * noise"),
    ("torch.randn(len(mask), 3)", "mean[~mask] * noise"),
    ("kept(x, mask)", "mean[mask]"),
    ("pooled(mask, other)", "mean[mask]"),
]


def masked(made: str, used: str) -> list[str]:
    """Return the reads of masks in a step."""
    return [
        one
        for one in said(GRAPH.replace("MADE", made).replace("USED", used), "dynamic")
        if "mask-read" in one
    ]


@pytest.mark.parametrize(("made", "used"), ROWS)
def test_the_sample_of_each_node_is_no_mask(made: str, used: str) -> None:
    assert masked(made, used) == []


@pytest.mark.parametrize(("made", "used"), PICKED)
def test_what_has_the_length_of_a_mask_does_not_tell(made: str, used: str) -> None:
    assert masked(made, used) != []
