"""Losses and counts of what a mask selects get all elements, and leave out what the mask does."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

STEP = """
criterion = nn.CrossEntropyLoss()
weighted = nn.NLLLoss(weight, ignore_index=0)
each = nn.CrossEntropyLoss(reduction="none")
soft = nn.KLDivLoss()

def count(a, b, n):
    total = torch.zeros(n, n)
    for x, y in loader:
        x, y = model(x.to(device)), y.to(device)
        flat = y.view(-1)
        rows = x.reshape(-1, 4)
        mask = flat > 0
        wide = y > 0
        {body}
        loss.backward()
        optimizer.step()
"""
ALL = "rows, flat.masked_fill(mask.logical_not(), {})"


def written(body: str) -> list[str]:
    indented = body.replace("\n", "\n        ")
    return fixed(STEP.format(body=indented), "XLA202")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("loss = criterion(rows[mask], flat[mask])", f"loss = criterion({ALL.format(-100)})"),
        ("loss = nn.NLLLoss()(rows[mask], flat[mask])", f"loss = nn.NLLLoss()({ALL.format(-100)})"),
        (
            "loss = nn.functional.cross_entropy(rows[mask], flat[mask], ignore_index=n)",
            f"loss = nn.functional.cross_entropy({ALL.format('n')}, ignore_index=n)",
        ),
        (
            "loss = criterion(rows[flat >= n], y.view(-1)[flat >= n])",
            "loss = criterion(rows, y.view(-1).masked_fill((flat >= n).logical_not(), -100))",
        ),
        (
            "loss = criterion(x[wide], y[wide])",
            "loss = criterion(x.flatten(0, wide.dim() - 1), "
            "y.flatten().masked_fill(wide.logical_not().flatten(), -100))",
        ),
    ],
)
def test_a_loss_of_classes_gets_all_elements(body: str, line: str) -> None:
    assert written(body) == [line]


def test_what_is_selected_may_have_names() -> None:
    assert written("logits = rows[mask]\nlabels = flat[mask]\nloss = criterion(logits, labels)") == [
        "logits = rows",
        "labels = flat.masked_fill(mask.logical_not(), -100)",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "loss = weighted(rows[mask], flat[mask])",  # a positional argument of the module
        "loss = each(rows[mask], flat[mask]).sum()",
        "loss = soft(rows[mask], flat[mask])",
        "loss = criterion(rows[mask], flat[wide])",
        "loss = criterion(rows[mask], flat)",
        "loss = criterion(rows[mask], flat[mask].float())",
        "loss = criterion(rows[model(x).view(-1) > 0], flat[model(x).view(-1) > 0])",
        "logits = rows[mask]\nlabels = flat[mask]\nloss = criterion(logits, labels) + logits.mean()",
        "logits = rows[mask]\nlogits = logits * 2\nloss = criterion(logits, flat[mask])",
    ],
)
def test_other_losses_are_left(body: str) -> None:
    assert not [line for line in written(body) if "masked_fill" in line]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "k = (a >= 0) & (a < n)\ni = n * a[k].to(torch.int64) + b[k]\n"
            "total += torch.bincount(i, minlength=n**2).view(n, n)",
            [
                "i = torch.where(k, n * a.to(torch.int64) + b, n**2).flatten()",
                "total += torch.bincount(i, minlength=n**2 + 1)[:n**2].view(n, n)",
            ],
        ),
        (
            "k = a < n\ni = torch.bincount(n * a[k] + b[k], minlength=9)",
            ["i = torch.bincount(torch.where(k, n * a + b, 9).flatten(), minlength=9 + 1)[:9]"],
        ),
        (
            "k = a < n\ni = a[k]\ntotal += torch.nn.functional.one_hot(i.long(), (n * n)).sum(0)",
            [
                "i = torch.where(k, a, n * n).flatten()",
                "total += torch.nn.functional.one_hot(i.long(), (n * n + 1)).sum(0)[:n * n]",
            ],
        ),
        ("k = a < n\ni = a[k]\ntotal += torch.nn.functional.one_hot(i.long(), 4).sum(1)", []),
        ("k = a < n\ni = a[k]\ntotal += torch.bincount(i)", []),
        ("k = a < n\ni = a[k]\nprint(i)\ntotal += torch.bincount(i, minlength=4)", []),
        ("k = a < n\ni = a[k].cumsum(0)\ntotal += torch.bincount(i, minlength=4)", []),
        ("k = a < n\ni = a[k] + b[y > 0]\ntotal += torch.bincount(i, minlength=4)", []),
    ],
)
def test_a_count_leaves_out_what_the_mask_does(body: str, lines: list[str]) -> None:
    moved = "a, b = x.argmax(1), y\n" + body + "\nloss = x.sum()"
    assert [line for line in written(moved) if "where" in line or "[:" in line] == lines
