"""BatchNorm in evaluation mode has the CPU's values and gradients on XLA."""

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
import copy, pickle, torch, torch_xla

def run(layer, shape, device, dtype=torch.float32):
    torch.manual_seed(0)
    model = torch.nn.Sequential(layer, torch.nn.ReLU(inplace=True))
    model[0].running_mean.uniform_(-1, 1)
    model[0].running_var.uniform_(0.5, 2)
    if layer.affine:
        torch.nn.init.normal_(layer.weight)
        torch.nn.init.normal_(layer.bias)
    model = model.to(device, dtype)
    x = torch.randn(shape).to(device, dtype).requires_grad_()
    for _ in range(2):
        eval_mode(model)
    assert not model.training and len(layer._forward_hooks) == 1
    out = copy.deepcopy(model)(x)
    out = model(x)
    assert out.dtype == dtype
    out.square().sum().backward()
    found = [out, x.grad, *(p.grad for p in model.parameters())]
    found = [one.detach().cpu().float().clone() for one in found]
    before = layer.running_mean.cpu().clone()
    model.train()
    model(x.detach())
    torch_xla.sync()
    assert not torch.equal(before, layer.running_mean.cpu())
    return found

B, xla = torch.nn, torch_xla.device()
for make, shapes in (
    (lambda: B.BatchNorm1d(4), [(6, 4), (6, 4, 3)]),
    (lambda: B.BatchNorm2d(4, affine=False), [(2, 4, 3, 3)]),
    (lambda: B.BatchNorm3d(4, eps=0.1), [(2, 4, 2, 3, 3)]),
):
    for shape in shapes:
        for one, other in zip(run(make(), shape, "cpu"), run(make(), shape, xla)):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
run(B.BatchNorm2d(4), (2, 4, 3, 3), xla, torch.bfloat16)
free = eval_mode(B.Sequential(B.BatchNorm2d(4, track_running_stats=False), B.LayerNorm(3))).to(xla)
free(torch.ones(2, 4, 3, 3, device=xla, requires_grad=True)).sum().backward()
if PICKLED:
    pickle.loads(pickle.dumps(eval_mode(B.BatchNorm2d(4))))
"""


def defined_in_file() -> str:
    """Return the definition that a script gets which cannot import the helper."""
    text = "import torch\nUSE\n"
    page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
    imported = inline_function(page, helpers.EVAL, (text.index("USE"), text.index("USE") + 3))
    assert imported is not None
    return apply_edits(text, list(imported.edits)).replace("USE\n", "")


@pytest.mark.parametrize("where", ["helper", "file"])
def test_gradients_are_those_of_the_cpu(where: str) -> None:
    text = helper.TEXT if where == "helper" else defined_in_file()
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    program = PROGRAM.replace("PICKLED", str(where == "helper"))
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    done = subprocess.run([python, "-c", text + program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2500:]
