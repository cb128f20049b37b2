"""Batches that the host cuts to their longest sample before they are moved."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
from torch.utils.data import DataLoader

device = torch_xla.device()
model = nn.GRU(8, 8).to(device)

def main(loader):
    for x, lengths, mask, labels in loader:
        CUT
        model(x.to(device))
        torch_xla.sync()

main(DataLoader(torch.load("a.pt", map_location="cpu"), batch_size=8, drop_last=True))
"""
SILENT = {
    "a constant": "x = x[:, :64]",
    "the greatest label": "n = labels.max(); kept = x[:, :n]",
    "a size of the batch": "x = x[:, :x.size(1)]",
    "the mean length": "n = lengths.float().mean(); x = x[:, :64]",
    "only a test": "n = lengths.max(); x = x[:, :64] if n < 64 else x[:, :128]",
    "another tensor": "y = x[:, :lengths.max()].sum()",
}
SAID = {
    "the bound itself": "x = x[:, :lengths.max()]",
    "a tensor": "n = lengths.max(); x = x[:, :n]",
    "a number": "n = int(lengths.max()); x = x[:, :n]",
    "an item": "n = lengths.max().item(); x = x[:, :n]",
    "a function": "n = torch.max(lengths); x = x[:, :n]",
    "the builtin": "n = max(lengths); x = x[:, :n]",
    "of a mask": "n = mask.sum(1).max().item(); x = x[:, :n]",
    "of a list": "n = torch.tensor([len(one) for one in labels]).max(); x = x[:, :n]",
}


def shapes(cut: str) -> list[str]:
    """Return what is said of tensors whose shape differs between batches."""
    return said(PROGRAM.replace("CUT", cut), "changing-shape")


@pytest.mark.parametrize("cut", SILENT.values(), ids=SILENT)
def test_leaves_batches_of_one_length_alone(cut: str) -> None:
    assert shapes(cut) == []


@pytest.mark.parametrize("cut", SAID.values(), ids=SAID)
def test_a_batch_as_long_as_its_longest_sample_changes_its_shape(cut: str) -> None:
    assert len(shapes(cut)) == 1
