"""Rows that a list leaves out are computed as well, and the mask chooses."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

REPLAY = """
def optimize(batch, target):
    state = torch.cat(batch.state).to(device)
    kept = torch.tensor([s is not None for s in batch.following], device=device, dtype=torch.bool)
    rows = torch.cat([s for s in batch.following if s is not None])
    out = torch.zeros(128, device=device)
    with torch.no_grad():
        out[kept] = model(rows).max(1)[0]
    loss = (model(state).max(1)[0] - out).square().mean()
    loss.backward()
    optimizer.step()

for batch in loader:
    optimize(batch, model)
"""


def test_chooses_by_the_mask() -> None:
    lines = [line for line in fixed(REPLAY, "XLA203") if "batch." in line or "torch.where" in line]
    assert lines == [
        "state = run_on_host(torch.cat)(batch.state).to(device)",
        "rows = run_on_host(torch.cat)([next(s for s in batch.following if s is not None) "
        "if s is None else s for s in batch.following])",
        "out = torch.where(kept, model(rows).max(1)[0], out)",
    ]


@pytest.mark.parametrize("mask", ["tuple(map(lambda s: s is not None, batch.following))"])
def test_knows_other_masks(mask: str) -> None:
    lines = fixed(REPLAY.replace("[s is not None for s in batch.following]", mask), "XLA203")
    assert sum("torch.where" in line or "run_on_host(" in line for line in lines) == 3


def test_joins_of_other_tensors_stay_on_the_device() -> None:
    code = REPLAY.replace("    out =", "    both = torch.cat(other.state)\n    out =")
    assert not any("other.state" in line for line in fixed(code, "XLA203"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept = torch.tensor([s is not None for s in batch.following]", "kept = torch.tensor(batch.kept"),
        ("s is not None for s in batch.following]", "s is not None for s in batch.state]"),
        ("if s is not None])", "if s is not batch])"),
        ("torch.zeros(128, device", "torch.zeros(128, 2, device"),
        ("torch.zeros(128, device", "torch.zeros_like(state[0], device"),
        ("    loss = (", "    print(rows.shape)\n    loss = ("),
        ("    loss = (", "    rows = rows + 1\n    loss = ("),
    ],
)
def test_leaves_what_it_cannot_prove(old: str, new: str) -> None:
    assert old in REPLAY
    assert not any("torch.where" in line for line in fixed(REPLAY.replace(old, new), "XLA203"))
