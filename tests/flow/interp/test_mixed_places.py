"""Moves to the device of another tensor, and mappings that are taken for tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding

LOOP = """import torch
def evaluate(net, loader, stats):
    net = net.to("xla")
    for x, y in loader:
        out = net(x.to("xla"))
        LINE
"""


def found(line: str, code: str) -> list[Finding]:
    text = LOOP.replace("LINE", line.replace("; ", "\n        "))
    options = engine.Options({"select": [code]}, isolated=True, stdin=("a.py", text.encode()))
    return list(engine.check([Path("a.py")], options).findings)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("z = y * out; z = z.to(y.device)", 0),  # `y` and `out` are computed with: they are in one place
        ("z = 1 - y + out; z = z.to(y.device)", 0),
        ("z = out.to(y.device)", 1),
        ("z = y * out; z = z.cpu()", 1),
        ("z = out * 2; z = z.to(y.device)", 1),
    ],
)
def test_what_was_computed_together_is_not_copied_to_the_other(line: str, told: int) -> None:
    assert len(found(line, "XLA102")) == told


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ("for key in out:; \tstats[key] += out[key].item()", False),
        ("for key in out:; \tif 'loss' in key: stats[key] += out[key].item()", False),
        ("for i in range(4):; \tstats[i] = out[i].item()", True),
        ("for i, _ in enumerate(stats):; \tstats[i] = out[i].item()", True),
    ],
)
def test_a_mapping_is_not_copied_as_one_tensor(line: str, copied: bool) -> None:
    (finding,) = found(line.replace("\t", "    "), "XLA101")
    assert ("`.tolist()`" in (finding.help or "")) == copied


HELPED = """import torch
import torch_xla
def run_on_host(function):
    return function

@run_on_host
def farthest(points):
    return torch.max(points.sum(-1), -1)[1]

def choose(points):
    return points[farthest(points)]

choose(torch.rand(4, 8, 3)MOVE)
"""


@pytest.mark.parametrize("move", ["", ".to(torch_xla.device())"])
def test_what_runs_on_the_host_gives_its_results_back_to_where_its_tensors_were(move: str) -> None:
    text = HELPED.replace("MOVE", move).encode()
    options = engine.Options({"select": ["XLA018"]}, isolated=True, stdin=("a.py", text))
    assert not engine.check([Path("a.py")], options).findings


@pytest.mark.parametrize(
    ("loss", "severity"),
    [
        ("nn.L1Loss()", "info"),
        ("nn.BCEWithLogitsLoss()", "info"),
        ("nn.functional.huber_loss", "info"),
        ("nn.MSELoss()", "error"),
        ("nn.CrossEntropyLoss()", "error"),
        ("nn.functional.smooth_l1_loss", "error"),
    ],
)
def test_losses_that_are_sums_and_products_take_a_target_of_the_host(loss: str, severity: str) -> None:
    text = f"""import torch, torch_xla
from torch import nn
model = nn.Linear(4, 2).to(torch_xla.device())
criterion = {loss}
criterion(model(torch.ones(3, 4).to(torch_xla.device())), torch.zeros(3, 2))
"""
    options = engine.Options({"select": ["XLA018"]}, isolated=True, stdin=("a.py", text.encode()))
    assert [f.severity for f in engine.check([Path("a.py")], options).findings] == [severity]
