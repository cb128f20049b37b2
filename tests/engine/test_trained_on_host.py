"""Tensors that are trained on the host need gradients."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

LEAF = """import torch
net = torch.nn.Linear(2, 2).to("xla")
def run(loader):
    {around}
        for x in loader:
            target = torch.zeros(2, requires_grad=True)
            y = net(target.to("xla"))
            {after}
            torch_xla.sync()
run(torch.utils.data.DataLoader([]))
"""


@pytest.mark.parametrize(
    ("around", "after", "told"),
    [("with torch.no_grad():", "print(y.sum().item())", []), ("if True:", "y.sum().backward()", ["warning"])],
)
def test_a_leaf_needs_gradients(tmp_path: Path, around: str, after: str, told: list[str]) -> None:
    (tmp_path / "a.py").write_text(LEAF.format(around=around, after=after), encoding="utf-8")
    report = engine.check([tmp_path], Options({}, isolated=True, jobs=1, cache=False))
    assert [f.severity for f in report.findings if f.code == "XLA908"] == told
