"""Errors between what a mask selects of two tensors compare all elements, with zeros outside of the mask."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

STEP = """
near = nn.L1Loss()
total = nn.MSELoss(reduction="sum")
each = nn.SmoothL1Loss(reduction="none")
logits = nn.BCEWithLogitsLoss()

for x, y in loader:
    p, y = model(x.to(device)), y.to(device)
    mask = y > 0
    rows = y.sum(1) > 0
    other = p > 0
    {body}
    loss.backward()
    optimizer.step()
"""
ZEROS = "torch.where({0}, p, 0), torch.where({0}, y, 0)"
BOTH = ZEROS.format("mask")
PARTLY = "rows.view(rows.shape + (1,) * ({}.dim() - rows.dim()))"


def written(body: str) -> list[str]:
    return fixed(STEP.format(body=body.replace("\n", "\n    ")), "XLA202")


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("loss = near(p[mask], y[mask])", [f"loss = near({BOTH}) * (mask.numel() / mask.sum())"]),
        ("loss = total(p[mask], y[mask])", [f"loss = total({BOTH})"]),
        (
            "loss = 0.5 * F.smooth_l1_loss(p[mask], y[mask], size_average=True) + 1",
            [f"loss = 0.5 * F.smooth_l1_loss({BOTH}, size_average=True) * (mask.numel() / mask.sum()) + 1"],
        ),
        (
            "loss = 1 / F.mse_loss(p[mask], y[mask])",
            [f"loss = 1 / (F.mse_loss({BOTH}) * (mask.numel() / mask.sum()))"],
        ),
        (
            "loss = F.l1_loss(p[y > 0], y[y > 0], reduction='sum')",
            [f"loss = F.l1_loss({ZEROS.format('y > 0')}, reduction='sum')"],
        ),
        (
            "loss = F.l1_loss(torch.masked_select(net(p), mask), torch.masked_select(y, mask))",
            [
                "loss = F.l1_loss(torch.where(mask, net(p), 0), torch.where(mask, y, 0)) "
                "* (mask.numel() / mask.sum())"
            ],
        ),
        (
            "loss = near(p[rows], y[rows])",
            [
                f"loss = near(torch.where({PARTLY.format('p')}, p, 0), "
                f"torch.where({PARTLY.format('y')}, y, 0)) * (rows.numel() / rows.sum())"
            ],
        ),
        (
            "a = p[mask]\nb = y[mask]\nloss = near(a, b)",
            [
                "a = torch.where(mask, p, 0)",
                "b = torch.where(mask, y, 0)",
                "loss = near(a, b) * (mask.numel() / mask.sum())",
            ],
        ),
    ],
)
def test_both_sides_are_zero_outside_of_the_mask(body: str, lines: list[str]) -> None:
    assert written(body) == lines


@pytest.mark.parametrize(
    "body",
    [
        "loss = logits(p[mask], y[mask])",  # not zero where both sides are
        "loss = each(p[mask], y[mask]).max()",
        "loss = near(p[mask], y[other])",
        "loss = near(p[mask], y)",
        "loss = near(p[mask], y[mask] + 1)",
        "loss = F.l1_loss(p[mask], y[mask], reduction=kind)",
        "loss = F.l1_loss(p[mask], y[mask], False)",
        "loss = near(net(p)[rows], net(y)[rows])",  # rows: how many dimensions are missing is not known
        "a = p[mask]\nloss = near(a, y[mask]) + a.mean()",
    ],
)
def test_other_losses_are_left(body: str) -> None:
    assert not [line for line in written(body) if "numel" in line or "near(torch.where" in line]
