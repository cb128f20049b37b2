"""Functions for tensors and arrays alike: the branch for arrays is none of a tensor."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

STEP = """
import numpy as np

{function}

device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for x, y in [(torch.ones(2, 8), torch.ones(2, 8))] * 9:
    x, y = x.to(device), y.to(device)
    loss = coarse(model(x), y * 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
GIVEN = STEP.replace("coarse(model(x), y * 2)", "coarse(y * 2, model(x))")
FLAG = """
def coarse(f0, other):
    is_torch = isinstance(f0, torch.Tensor)
    mel = 1127 * (1 + f0 / 700).log() if is_torch else 1127 * np.log(1 + f0 / 700)
    mel[mel > 0] = mel[mel > 0] * 2 + 1
    mel = mel.round() if is_torch else np.rint(mel)
    return mel
"""
BLOCKS = """
def coarse(f0, other):
    is_torch = torch.is_tensor(f0)
    f0 = f0 / 700
    if not is_torch:
        mel = np.log(f0)
    else:
        mel = f0.log()
    mel[mel > 0] = 1
    return mel
"""
DIRECT = """
def coarse(f0, other):
    if isinstance(f0, torch.Tensor):
        return f0 * other
    other = np.exp(other)
    return np.log(f0) * other
"""
OTHER = """
def coarse(f0, other):
    if isinstance(f0, torch.Tensor):
        f0 = f0 * other
    else:
        f0 = f0 * other
        f0 = np.exp(f0)
    return f0
"""


@pytest.mark.parametrize("function", [FLAG, BLOCKS, DIRECT, OTHER])
@pytest.mark.parametrize("step", [STEP, GIVEN])
def test_makes_no_array_in_the_branch_without_tensors(function: str, step: str) -> None:
    assert [line for line in said(step.format(function=function)) if " array:" in line] == []


@pytest.mark.parametrize("function", [FLAG, BLOCKS])
def test_knows_the_tensor_after_the_branches(function: str) -> None:
    found = said(STEP.format(function=function), "dynamic-shape")
    assert any("mel[mel > 0]" in line for line in found)


@pytest.mark.parametrize(
    "function",
    [
        "def coarse(f0, other):\n    return np.log(f0)",
        "def coarse(f0, other):\n    flag = isinstance(f0, str)\n    return f0 if flag else np.log(f0)",
        "def coarse(f0, other):\n    flag = isinstance(f0, torch.Tensor)\n"
        "    return np.log(f0) if flag else f0",
        "def coarse(f0, other):\n    flag = isinstance(f0, torch.Tensor) and len(other) > 3\n"
        "    return f0 if flag else np.log(f0)",
        "def coarse(f0, other):\n    flag = isinstance(f0, (np.ndarray, torch.Tensor))\n"
        "    return f0 if not flag else np.log(f0)",
    ],
)
def test_still_reports_arrays_that_tensors_become(function: str) -> None:
    assert any(" array:" in line for line in said(STEP.format(function=function), "host-read"))
