"""`xlamig trace` and `verify` of programs that real launchers start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.evidence, pytest.mark.slow]

PYTHON = os.environ.get("XLAMIG_XLA_PYTHON", sys.executable)
LOOP = """
import os
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i in range(16):
    loss = model(torch.randn(8, 4).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
assert os.environ["WORLD_SIZE"] == "1"
"""
PREPARED = """
import torch
from accelerate import Accelerator
accelerator = Accelerator()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = torch.utils.data.DataLoader(torch.randn(128, 4), batch_size=8)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
for batch in data:
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
"""
# `--standalone` takes a free port; the fixed one may be held by another job of the machine.
TORCHRUN = (LOOP, ["torchrun", "--standalone", "--nproc_per_node=1"])
ACCELERATE = (PREPARED, ["accelerate", "launch", "--num_processes", "1"])


def run(folder: Path, launched: tuple[str, list[str]], *command: str) -> subprocess.CompletedProcess[str]:
    text, launcher = launched
    (folder / "program.py").write_text(text)
    if launcher[0] == "accelerate":
        found = subprocess.run([PYTHON, "-c", "import accelerate"], capture_output=True, check=False)
        if found.returncode:
            pytest.skip("accelerate is not installed beside torch_xla")
    xlamig = [sys.executable, "-c", "from xlamig.cli import main; main()"]
    return subprocess.run(
        [*xlamig, command[0], "--python", PYTHON, *command[1:], *launcher, "program.py"],
        cwd=folder, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("launched", [TORCHRUN, ACCELERATE], ids=["torchrun", "accelerate"])
def test_a_launched_program_is_traced(tmp_path: Path, launched: tuple[str, list[str]]) -> None:
    done = run(tmp_path, launched, "trace", "--output-format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["steps"]) == (0, 16), done.stderr
    assert found["steady_state"] == {"compiles": 0, "executions": 1, "device_to_host": 0}


@pytest.mark.parametrize("launched", [TORCHRUN, ACCELERATE], ids=["torchrun", "accelerate"])
def test_a_launched_port_is_held_against_its_reference(
    tmp_path: Path, launched: tuple[str, list[str]]
) -> None:
    done = run(tmp_path, launched, "verify")
    assert done.returncode == 0, done.stdout
    assert "ok    the gradients are the reference's: in 3 steps" in done.stdout
