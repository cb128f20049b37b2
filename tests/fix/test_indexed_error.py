"""Losses at indices that the CPU finds compare all elements, with the mask on the device."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

STEP = """
import numpy as np
near = nn.L1Loss()
logits = nn.BCEWithLogitsLoss()
each = nn.L1Loss(reduction="none")
weighted = nn.BCEWithLogitsLoss(pos_weight=torch.ones(1))

for x, labels in loader:
    seq = np.array(labels)
    p, y = model(x.to(device)), torch.ones(seq.shape, device=device)
    {body}
    loss.backward()
    optimizer.step()
"""
FOUND = "i = np.where(seq != 0)\n"
MASK = "i = torch.as_tensor(seq != 0, device=p.device)"
P, Y = (f"i.view(i.shape + (1,) * ({name}.dim() - i.dim()))" for name in "py")
MEAN = " * (i.numel() / i.sum())"


def written(body: str) -> list[str]:
    return fixed(STEP.format(body=body.replace("\n", "\n    ")), "XLA202")


@pytest.mark.parametrize(
    ("loss", "zero", "one"),
    [("near", "0", "0"), ("logits", "100", "1"), ("F.binary_cross_entropy_with_logits", "100", "1")],
)
def test_the_mask_goes_to_the_device(loss: str, zero: str, one: str) -> None:
    both = f"torch.where({P}, p, {zero}), torch.where({Y}, y, {one})"
    assert written(f"{FOUND}loss = {loss}(p[i], y[i])") == [MASK, f"loss = {loss}({both}){MEAN}"]


def test_all_losses_at_the_same_indices_change() -> None:
    lines = written(f"{FOUND}loss = logits(p[i], y[i])\nloss += logits(p[i], y[i])")
    assert lines[0] == MASK and len(lines) == 3
    assert all("[i]" not in line and line.endswith(MEAN) for line in lines[1:])


@pytest.mark.parametrize(
    "body",
    [
        f"{FOUND}loss = each(p[i], y[i]).sum()",
        f"{FOUND}loss = weighted(p[i], y[i])",
        f"{FOUND}loss = near(p[i], y[i])\nprint(len(i[0]))",
        f"{FOUND}loss = near(p[i], y[i]) + p[i].sum()",
        f"{FOUND}loss = near(p[i], torch.zeros(4))",
        "i = np.where(seq)\nloss = near(p[i], y[i])",
        "i = np.where(seq != 0)[0]\nloss = near(p[i], y[i])",
        f"{FOUND}p = p.sigmoid()\nloss = near(p[i], y[i])",
        "i = np.where(seq != 0)\nif x.dim():\n    i = np.where(seq > 0)\nloss = near(p[i], y[i])",
    ],
)
def test_others_stay(body: str) -> None:
    assert written(body) == []
