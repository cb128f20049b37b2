"""Advice on an operator that runs on the CPU follows from what becomes of its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.findings import Finding

HEAD = """import torch
import torch.nn.functional as F
class Net(torch.nn.Module):
    def forward(self, x, y):
"""
RESIZED = "F.interpolate(x, (8, 8), mode='bicubic')"


def found(body: str, **settings: Any) -> list[Finding]:
    text = HEAD + "".join(f"        {line}\n" for line in body.split("; "))
    options = engine.Options(settings, isolated=True, stdin=("train.py", text.encode()))
    return list(engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.cdist(x, y).topk(3)[0]",
        "return torch.cdist(x, y).topk(3).values",
        "d = torch.cdist(x, y); i = d.argmin(1); return d.gather(1, i)",
        "d = torch.cdist(x, y); return d",
        "d, i = torch.cdist(x, y).sort(); return d.sum() + x[i]",
        "d = torch.cdist(x, y); if self.a: return d; return d.argmin(1)",
        "return self.f(torch.cdist(x, y)).argmin(1)",
        "return torch.max(torch.cdist(x, y), y)[1]",
        "self.d = torch.cdist(x, y); return self.d.argmin(1)",
        "d = torch.cdist(x, y); d.fill_diagonal_(0); return d.argmin(1)",
        "d = torch.zeros(8, 8); d[i] = torch.cdist(x, y); return d",
        "d = self.d; d[i] = torch.cdist(x, y); return d > 3",
        "y[i] = torch.cdist(x, y); return y > 3",
        "d = torch.zeros(8, 8); d[i] = torch.cdist(x, y); x += d; return x",
        "d = torch.cdist(x, y); e = torch.zeros(8, 8); e[i] = d; e += e.T * d; return e.argmin(1) + d",
        "d = torch.cdist(x, y); d += y; return d",
    ],
)
def test_reports_a_gradient_that_comes_back(body: str) -> None:
    assert [
        f.code
        for f in found(body.replace("if self.a: return d", "if self.a:;     return d"), select=["XLA502"])
    ] == ["XLA502"]


@pytest.mark.parametrize(
    "body",
    [
        "return torch.cdist(x, y).topk(3)[1]",
        "return torch.cdist(x, y).topk(3).indices",
        "return x[torch.cdist(x, y).argmin(1)]",
        "return torch.cdist(x, y).min(dim=1)[1]",
        "d = torch.cdist(x, y); return x[torch.argmin(-d, 1)]",
        "d = torch.cdist(x, y); e = d.square(); return (e < 3).float()",
        "p = F.pdist(x); d = torch.zeros(8, 8).to(x.device); d[i] = p; d += d.T; return (d > 3).float()",
        "d = torch.zeros(8, 8); d[i] = torch.cdist(x, y); d[j] = d[i] * 2; return d.argmin(1)",
        "d = torch.cdist(x, y); d += y; return d.argmin(1)",
        "_, i = torch.cdist(x, y).sort(); return x[i]",
        "d, i = torch.cdist(x, y).sort(); print(d.shape); return x[i]",
        "return torch.cdist(x, y).detach()",
    ],
)
def test_no_gradient_comes_back_to_indices_and_comparisons(body: str) -> None:
    assert not found(body, select=["XLA502"])


def test_the_wrong_gradient_of_an_activation_needs_one() -> None:
    assert [f.code for f in found("return F.elu(x)", select=["XLA503"])] == ["XLA503"]
    assert not found("return F.elu(x).argmax(1)", select=["XLA503"])


@pytest.mark.parametrize(
    "body",
    [
        f"return {RESIZED}.squeeze().cpu().numpy()",
        f"return {RESIZED}[0].permute(1, 2, 0).to('cpu')",
        f"z = {RESIZED}; return z.mul(255).to(torch.uint8).cpu()",
    ],
)
def test_what_only_the_host_takes_is_copied_first(body: str) -> None:
    (finding,) = found(body, select=["XLA502"])
    assert (finding.help or "").startswith("Copy its input to the host first")


@pytest.mark.parametrize(
    "body",
    [
        f"return self.f({RESIZED}).cpu()",
        f"return {RESIZED}.matmul(y).cpu()",
        f"z = {RESIZED}; self.seen = z.cpu(); return z",
        f"return {RESIZED}",
        f"return {RESIZED}.to(x.device)",
    ],
)
def test_the_device_takes_it_too(body: str) -> None:
    (finding,) = found(body, select=["XLA502"])
    assert not (finding.help or "").startswith("Copy")


def test_one_finding_for_the_operator_and_the_copy_of_its_result() -> None:
    both = ["XLA102", "XLA502"]
    assert [f.code for f in found(f"return {RESIZED}.cpu()", select=both)] == ["XLA502"]
    assert sorted(f.code for f in found(f"z = x.sin().cpu(); return {RESIZED}", select=both)) == both
    assert sorted(f.code for f in found(f"z = {RESIZED}; w = z.sin().cpu(); return z", select=both)) == both
