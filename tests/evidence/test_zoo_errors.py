"""Models of the zoo that raise, abort or are wrong on real torch_xla, and what works instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pool import Pool, Request

pytestmark = pytest.mark.evidence

PROGRAM = """
import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
x = torch.rand(4, 4).to(device)
mask = torch.tensor([True, False, True, True]).to(device)
order = torch.tensor([2, 0, 3, 1]).to(device)
cubes = torch.rand(2, 4, 4).to(device).requires_grad_()
two = torch.rand(2, 4, 4).to(device)
result = {}
torch_xla.sync()
assert result.dtype != torch.bool
"""
CASES = {  # operator: what fails, what works
    "getitem": ("x[:, -9:]", "x[:, -4:]"),
    "getitem-end": ("x[:-9]", "x[:9]"),
    "setitem": ("x.__setitem__(slice(-9, None), 0.0) or x", "x.__setitem__(slice(-4, 9), 0.0) or x"),
    "fill_diagonal_": ("two[1].fill_diagonal_(0)", "two[1].clone().fill_diagonal_(0)"),
    "where": ("torch.where(mask, x, torch.tensor(0.0))", "torch.where(mask, x, 0.0)"),
    "clamp": ("torch.clamp(x, min=torch.tensor(0.5))", "torch.clamp(x, min=0.5)"),
    "lerp": ("torch.lerp(x, x, torch.tensor(0.5))", "torch.lerp(x, x, 0.5)"),
    "cumsum": ("mask.cumsum(0)", "mask.cumsum(0, dtype=torch.long)"),
    "index_select": ("x.index_select(0, order.argsort())", "x[order.argsort()]"),
    "abs": ("(cubes + 0j).abs()", "(cubes.detach() + 0j).abs()"),
    "data": ("x.__setattr__('data', torch.rand(4, 4)) or x", "x.copy_(torch.rand(4, 4).to(device))"),
    "index_add": ("x.index_add(0, order.argsort(), x)", "x.index_add(0, order.argsort() + 0, x)"),
    "embedding": ("F.embedding(order.topk(2).indices, x)", "x[order.topk(2).indices]"),
    "cdist": ("torch.cdist(two, x)", "torch.cdist(two, x.expand(2, 4, 4))"),
    "batch_norm": (
        "torch.autograd.grad(torch.nn.BatchNorm1d(cubes.size(1)).to(device).eval()(cubes).sum(), cubes)[0]",
        "torch.autograd.grad(torch.nn.BatchNorm1d(cubes.size(1)).to(device)(cubes).sum(), cubes)[0]",
    ),
    "einsum": (
        "torch.autograd.grad(torch.einsum('...ii', cubes).sum(), cubes)[0]",
        "torch.autograd.grad(torch.einsum('bii', cubes).sum(), cubes)[0]",
    ),
}  # fmt: skip


def _fails(pool: Pool, program: Path, expression: str) -> bool:
    program.write_text(PROGRAM.replace("{}", expression))
    outcome = pool.outcome(Request(program))
    return bool(outcome["crashed"] or outcome["attempts"][0]["error"])


@pytest.mark.parametrize("name", CASES)
def test_fails_on_xla_alone(pool: Pool, tmp_path: Path, name: str) -> None:
    bad, good = CASES[name]
    assert _fails(pool, tmp_path / "bad.py", bad)
    assert not _fails(pool, tmp_path / "good.py", good)
