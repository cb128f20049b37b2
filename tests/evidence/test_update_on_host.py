"""Optimizers that update copies on the host have their values on XLA, and LBFGS compiles once."""

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
import copy, torch, torch_xla
import torch_xla.debug.metrics as metrics

xla = torch_xla.device()
batch = torch.linspace(-1, 1, 32).view(4, 8)
LBFGS, Rprop = torch.optim.LBFGS, torch.optim.Rprop

def run(kind, device, **options):
    torch.manual_seed(0)
    layers = torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)
    model, x = torch.nn.Sequential(*layers).to(device), batch.to(device)

    def closure():
        with torch.no_grad():
            model[0].bias.clamp_(-0.2, 0.2)
        optimizer.zero_grad()
        loss = (model(x) - 1).square().mean()
        loss.backward()
        return loss

    optimizer = kind(model.parameters(), **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    losses, compiled = [], []
    for step in range(6):
        if step == 3:  # a checkpoint
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = kind(model.parameters(), **options)
            optimizer.load_state_dict(state)
        loss = optimizer.step(closure) if issubclass(kind, LBFGS) else closure()
        if not issubclass(kind, LBFGS):
            optimizer.step()
        assert loss.device.type == torch.device(device).type
        losses.append(loss.item())
        schedule.step()
        compiled.append(metrics.counter_value("UncachedCompile"))
    assert compiled[1] == compiled[-1] or not issubclass(kind, LBFGS) or device == "cpu"
    return losses, [p.detach().cpu() for p in model.parameters()]

for kind, options in ((LBFGS, {"max_iter": 4}), (LBFGS, {"line_search_fn": "strong_wolfe"}), (Rprop, {})):
    losses, wanted = run(kind, "cpu", **options)
    same, host = run(update_on_host(kind), "cpu", **options)
    assert same == losses and all(map(torch.equal, host, wanted))
    found, device = run(update_on_host(kind), xla, **options)
    assert torch.allclose(torch.tensor(found), torch.tensor(losses), atol=1e-4), (kind, found, losses)
    for one, other in zip(wanted, device, strict=True):
        assert torch.allclose(one, other, atol=1e-3), (kind, options)
"""


def defined_in_file() -> str:
    text = "import torch\nUSE\n"
    page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
    imported = inline_function(page, helpers.UPDATES, (text.index("USE"), text.index("USE") + 3))
    assert imported is not None
    return apply_edits(text, list(imported.edits)).replace("USE\n", "")


@pytest.mark.parametrize("where", ["helper", "file"])
def test_losses_and_parameters_are_those_of_the_host(where: str) -> None:
    text = helper.TEXT if where == "helper" else defined_in_file()
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    command = [python, "-c", text + PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2500:]
