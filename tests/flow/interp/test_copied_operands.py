"""An operator on what was just copied to the CPU runs there anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine


@pytest.mark.parametrize(
    ("operand", "reported"),
    [
        ("x.cpu()", False),
        ("x[0].cpu().data.float()", False),
        ("x.detach().to('cpu')", False),
        ("x", True),
        ("x.data.float()", True),
        ("x.cpu().to(y.device)", True),
        ("x.to(self.where)", True),
    ],
)
def test_an_operator_that_runs_on_the_cpu_anyway_falls_back_nowhere(operand: str, reported: bool) -> None:
    text = f"""import torch
from torch import nn

class Histogram(nn.Module):
    def forward(self, x, y):
        return torch.histc({operand}, bins=3) + y.mean()
"""
    settings = {"select": ["XLA501"], "severity": "warning"}
    options = engine.Options(settings, isolated=True, stdin=("model.py", text.encode()))
    assert bool(engine.check([Path("model.py")], options).findings) == reported
