"""Advice on copies of what indices made whose number depends on values."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

PROGRAM = """import torch

net = torch.nn.Linear(3, 3).cuda()

def evaluate(loader):
    kept = []
    for x, t in loader:
        with torch.no_grad():
            y = net(x.cuda())
        {0}
    return kept

evaluate([])
"""


@pytest.mark.parametrize(
    ("lines", "counted"),
    [
        ("i = torch.where(y > 1); kept.append(y[i[0], i[1]].cpu())", True),
        ("i = (y > 1).nonzero(); kept.append(torch.cat((i, i), 1).cpu())", True),
        ("z = y[y[:, 0] > 1]; kept.append(z.cpu().numpy())", True),
        ("kept.append(y.cpu())", False),
        ("z = torch.where(y > 1, y, 0.0); kept.append(z.cpu())", False),
        ("z = y.cpu(); kept.append(z[z > 1].cpu())", False),
    ],
)
def test_what_is_counted_is_copied_before(lines: str, counted: bool) -> None:
    text = PROGRAM.format(lines.replace("; ", "\n        "))
    options = engine.Options({"select": ["XLA102"]}, isolated=True, stdin=("train.py", text.encode()))
    helps = [f.help or "" for f in engine.check([Path("train.py")], options).findings]
    assert helps and all(("whose result has a length" in shown) is counted for shown in helps)
