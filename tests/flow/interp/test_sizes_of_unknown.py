"""The sizes of an object are numbers, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

from .said import in_step

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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = repeat(x.sum(), '-> b', b=len(x))", []),
        ("y, _ = map(lambda w: repeat(w, 'd -> b d', b=len(x)), model.weight)", []),
        ("y = x.repeat(x.long().max(), 1)", ["dynamic-shape size: x.long().max()"]),
        ("y = torch.zeros(x.long().max(), device=device)", ["dynamic-shape size: x.long().max()"]),
    ],
)
def test_a_function_named_like_a_method_gets_the_tensor_first(line: str, expected: list[str]) -> None:
    assert in_step(f"from einops import repeat\n{line}", "dynamic-shape") == expected
