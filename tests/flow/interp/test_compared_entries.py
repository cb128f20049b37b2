"""A comparison of an entry of a batch that nobody knows is a mask where it indexes a tensor."""

from __future__ import annotations

import pytest

from .said import said

HEAD = """\
import lightning as L


class Segments(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 8, 1)

    def validation_step(self, batch, batch_idx):
        pred = self.net(batch["image"]).argmax(1)
"""
MASKS = [
    "valid = batch['mask'] != 255\n        pred = pred[valid]",
    "pred = pred[batch['mask'] > 0]",
    "pred[batch['mask'].bool()] = 0",
]
OTHERS = [
    "if batch['mask'] != 255:\n            pred = pred[:, 0]",  # a tensor of one element, or a number
    "pred = pred[batch['index']]",
    "names = batch['names'][batch['kind'] != 2]",
]


def masks(code: str) -> list[str]:
    return said(HEAD + f"        {code}\n", "dynamic-shape")


@pytest.mark.parametrize("code", MASKS)
def test_a_comparison_that_indexes_a_tensor_is_a_mask(code: str) -> None:
    assert len(masks(code)) == 1


@pytest.mark.parametrize("code", OTHERS)
def test_others_are_not_likely_masks(code: str) -> None:
    assert masks(code) == []
