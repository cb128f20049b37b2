"""Shapes by dimension: which tensors are numbers, and which sizes never change."""

from __future__ import annotations

import pytest

from .said import in_step

SILENT = {
    "a vector after elementwise operators": "k = torch.zeros(3, device=device).exp().long(); x[k]",
    "a dimension that is kept": "k = x.long().sum(0, keepdim=True).clamp(0, 2); x[k]",
    "a row of a matrix": "k = torch.zeros(3, 4, device=device).long(); x[k[0]]",
    "a row of differences": "r = torch.randint(9, n, device=device); k = r[:, None] - r[None, :]; x[k[0]]",
    "a loss for each element": "k = F.mse_loss(x, x, reduction='none').long(); x[k]",
    "an unknown dimension": "k = x.long().sum(dim); x[k]",
    "a row of what `reshape` got number by number": "k = x.reshape(x.shape[0], -1).long(); x[k[0]]",
    "what `permute` got number by number": "k = x.reshape(2, 3, 4).permute(2, 0, 1).long(); x[k[0]]",
    "a row of positions that `topk` gives": "k = x.reshape(2, -1).topk(5, dim=1)[1]; x[k[0]]",
    "a row of what `flatten` leaves": "k = model(x).flatten(1).topk(5, dim=1)[1]; x[k[0]]",
    "dimensions that `flatten` leaves": "k = x.reshape(2, 3, 4, 5).flatten(1, 2).long(); x[k[0, 0]]",
    "static sizes": "n = torch.zeros(4, 5, device=device).shape[0]; x[:n]; x.roll(n)",
}
READS = {
    "an elementwise operator after a reduction": ("k = x.sum().sqrt().long()", "k"),
    "a loss times a number": ("k = F.mse_loss(x, x).exp().round().long()", "k"),
    "a maximum along the only dimension": ("k = torch.zeros(3, device=device).max(0)[1]", "k"),
    "an element of a vector": ("k = torch.zeros(3, device=device).long()[0]", "k"),
    "an element of part of a vector": ("k = torch.randint(9, n, device=device)[1:][0]", "k"),
    "an element of what `reshape` makes flat": ("k = x.reshape(-1).long()[0]", "k"),
    "a position that `topk` gives": ("k = torch.zeros(9, device=device).topk(3)[1][0]", "k"),
    "dimensions that are removed": ("k = torch.zeros(3, 4, device=device).long().sum((0, 1))", "k"),
}


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_read(case: str) -> None:
    assert [line for line in in_step(SILENT[case]) if line.startswith(("host-read", "changing"))] == []


@pytest.mark.parametrize("case", READS)
def test_a_0d_index_is_read(case: str) -> None:
    code, text = READS[case]
    assert f"host-read number: {text}" in in_step(f"{code}\nx[{text}]")
