"""The sizes of an object are numbers, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

CHECKS = """import torch

def check(thing, sizes):
    for size, other in zip(thing.ATTRIBUTE, sizes):
        if isinstance(other, torch.Tensor):
            pass
        elif isinstance(size, torch.Tensor):
            torch._assert(torch.equal(size, torch.as_tensor(other)), "wrong size")
"""
NET = """import checks
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        checks.check(self.config, [x.shape[0], 3])
        return x * 2
"""


@pytest.mark.parametrize(("attribute", "expected"), [("shape", []), ("parts", ["checks.py"])])
def test_a_size_is_no_tensor(tmp_path: Path, attribute: str, expected: list[str]) -> None:
    (tmp_path / "checks.py").write_text(CHECKS.replace("ATTRIBUTE", attribute))
    (tmp_path / "net.py").write_text(NET)
    report = engine.check([tmp_path], Options({"select": ["XLA108"]}, isolated=True, jobs=1, cache=False))
    assert [Path(finding.filename).name for finding in report.findings] == expected
