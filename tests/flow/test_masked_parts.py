"""Help for a write at a mask beside other indices names the part of the tensor that these take."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
def train(model, loader, optimizer, k):
    model.to("xla")
    for i, x in enumerate(loader):
        x = x.to("xla")
        y = model(x)
        z = torch.zeros(8, 8, device="xla")
        rows = torch.zeros(8, device="xla") > x.sum()
        mask = y > 1
"""


def help_of(line: str) -> str:
    text = HEAD + f"        {line}\n        y.sum().backward()\n        optimizer.step()\n"
    options = engine.Options({"select": ["XLA203"]}, isolated=True, stdin=("train.py", text.encode()))
    (finding,) = engine.check([Path("train.py")], options).findings
    assert f"`{line.partition(' = ')[0]}`" in finding.message
    return finding.help or ""


@pytest.mark.parametrize("line", ["y[:, [0, 1], mask] = 0", "y[x, mask] = 0", "y[mask, 0] = 0"])
def test_names_no_part_that_is_not_certain(line: str) -> None:
    assert "mask of all of `y`" in help_of(line)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("y[mask] = 0", "`y.masked_fill_("),
        ("y[:, 2, mask] = 0", "`y[:, 2].masked_fill_("),
        ("y[:, -1, mask] = x", "`y[:, -1] = torch.where("),
        ("y[:, k, mask] = 0", "`y[:, k].masked_fill_("),
        ("y[:, i, mask] = 0", "`y[:, i].masked_fill_("),
        ("y[..., mask] = 0", "`y.masked_fill_("),
        ("y[mask, :] = 0", "`y.masked_fill_("),
        ("y[0, mask, :] = 0", "`y[0].masked_fill_("),
        ("z[rows, 0] = 0", "`z[:, 0].masked_fill_("),
        ("z[rows, 1:3] = x", "`z[:, 1:3] = torch.where("),
    ],
)
def test_names_the_part_that_other_indices_take(line: str, part: str) -> None:
    assert part in help_of(line)


def test_knows_the_dimensions_behind_the_mask() -> None:
    assert "torch.where(rows[..., None], value, z[:, 1:3])" in help_of("z[rows, 1:3] = x")
