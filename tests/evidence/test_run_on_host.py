"""A function that runs on the host has the same values and gradients there, and XLA recompiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from xlamig.config.settings import Settings
from xlamig.fix import helper
from xlamig.fix.context import FixContext
from xlamig.fix.edits import apply_edits
from xlamig.fix.inline import inline_function
from xlamig.knowledge import helpers
from xlamig.source.text import SourceText
from xlamig.syntax import module_from_text

pytestmark = pytest.mark.evidence

PROGRAM = """
import collections, torch, torch_xla
import torch_xla.debug.metrics as metrics

Pair = collections.namedtuple("Pair", "mask rows")

@run_on_host
def select(x, boxes, *, pair):
    assert all(t.device.type == "cpu" for t in (x, boxes["b"][0], *pair))
    x[0, 0] += 0  # of a copy, or of no leaf
    return {"sum": [x[pair.mask].sum() * boxes["b"][0], pair.rows.unique()], "n": 3}

def run(device):
    torch.manual_seed(0)
    model, found, compiled = torch.nn.Linear(4, 4).to(device), [], []
    for i in range(8):
        x = torch.randn(5, 4)
        y = model(x.to(device))
        pair = Pair((x > i / 8).to(device), torch.arange(3).to(device))
        out = select(y, {"b": [torch.ones(()).to(device)]}, pair=pair)
        assert out["n"] == 3 and {t.device.type for t in out["sum"]} == {torch.device(device).type}
        model.zero_grad()
        out["sum"][0].backward()
        torch_xla.sync()
        found += [out["sum"][0].detach().cpu(), model.weight.grad.cpu()]
        compiled.append(metrics.counter_value("UncachedCompile") or 0)
    return found, compiled

xla = torch_xla.device()
(expected, _), (found, compiled) = run("cpu"), run(xla)
assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(expected, found, strict=True))
assert compiled[-1] == compiled[-4], compiled
"""


def defined_in_file() -> str:
    text = "import torch\nUSE\n"
    page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
    imported = inline_function(page, helpers.HOST, (text.index("USE"), text.index("USE") + 3))
    assert imported is not None
    return apply_edits(text, list(imported.edits)).replace("USE\n", "")


@pytest.mark.parametrize("where", ["helper", "file"])
def test_values_and_gradients_are_equal(where: str) -> None:
    text = helper.TEXT if where == "helper" else defined_in_file()
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    command = [python, "-c", text + PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2500:]
