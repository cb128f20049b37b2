"""Indices that are masks by their names or their shapes, through views."""

from __future__ import annotations

import pytest

from .said import said

NET = """
class Net(nn.Module):
    def forward(self, mode, **kwargs):
        return self.predict(**kwargs)
    def predict(self, x, pred_mask, keep, mask_ids, y):
        x = torch.relu(x)
        return INDEXED.view(-1, 8)
"""


@pytest.mark.parametrize(
    "indexed",
    [
        "x[pred_mask.unsqueeze(-1).expand_as(x)]",
        "x[pred_mask.t().contiguous().view(-1)]",
        "x[~pred_mask.reshape(-1)]",
        "x[keep.unsqueeze(-1).expand_as(x)]",
    ],
)
def test_a_view_of_a_mask_is_a_mask(indexed: str) -> None:
    assert said(NET.replace("INDEXED", indexed), "dynamic-shape", sure=False) == [
        f"dynamic-shape mask-read: {indexed}"
    ]


@pytest.mark.parametrize(
    "indexed",
    [
        "x[pred_mask.long()]",  # positions
        "x[mask_ids.view(-1)]",
        "x[keep.view(-1)]",
        "x[keep.expand_as(x)]",  # a permutation of a vector may be as long as it
        "x[keep.unsqueeze(-1).expand_as(y)]",  # of another tensor
        "x[pred_mask.sum(-1)]",
    ],
)
def test_other_indices_are_no_masks(indexed: str) -> None:
    assert said(NET.replace("INDEXED", indexed), "dynamic-shape") == []
