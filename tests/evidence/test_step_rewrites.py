"""Loops that `--fix` ends the steps of train as before on the CPU, and on torch_xla without new graphs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from xlamig import engine

pytestmark = pytest.mark.evidence

HEAD = """import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
told = []
cuda = True if torch.cuda.is_available() else False
model, critic = nn.Linear(4, 4), nn.Linear(4, 1)
if cuda:
    model.cuda()
    critic.cuda()
one = torch.optim.SGD(model.parameters(), lr=0.1)
two = torch.optim.SGD(critic.parameters(), lr=0.1)
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
loader = torch.randn(12, 8, 4).unbind()
"""
PROGRAMS = {
    "adversarial": """
        for i, x in enumerate(loader):
            real = x.type(Tensor)
            z = Tensor(np.random.normal(0, 1, (8, 4)))
            ones = Tensor(x.size(0), 1).fill_(1.0)
            one.zero_grad()
            fake = model(z)
            loss = (critic(fake) - ones).square().mean()
            loss.backward()
            one.step()
            two.zero_grad()
            other = critic(real).mean() - critic(fake.detach()).mean()
            other.backward()
            two.step()
            told.append((loss.item(), other.item()))
    """,
    "now and then": """
        for i, x in enumerate(loader):
            real = x.type(Tensor)
            two.zero_grad()
            loss = critic(model(real).detach()).square().mean()
            loss.backward()
            two.step()
            one.zero_grad()
            if i % 2 == 0:
                other = critic(model(real)).square().mean()
                other.backward()
                one.step()
                told.append((loss.item(), other.item()))
    """,
    "accumulation": """
        for i, x in enumerate(loader):
            loss = model(x.type(Tensor)).square().mean() / 2
            loss.backward()
            told.append((loss.item(),))
            if (i + 1) % 2 == 0:
                one.step()
                one.zero_grad()
    """,
    "attack": """
        def attack(x, steps):
            for _ in range(steps):
                x = x.detach().requires_grad_()
                loss = critic(model(x)).square().mean()
                x = x + torch.autograd.grad(loss, [x])[0]
            return x.detach()

        for x in loader:
            loss = model(attack(x.type(Tensor), 5)).square().mean()
            one.zero_grad()
            loss.backward()
            one.step()
            told.append((loss.item(),))
    """,
    "micro-batches": """
        for x in loader:
            one.zero_grad()
            for part in x.type(Tensor).chunk(4):
                loss = model(part).square().mean() / 4
                loss.backward()
            one.step()
            told.append((loss.item(),))
    """,
    "collected": """
        for epoch in range(6):
            losses = []
            sums = {"ones": 0}
            with torch.no_grad():
                for x in loader:
                    real = model(x.type(Tensor))
                    losses.append(real.mean().item())
                    sums["ones"] += (real > 0).sum().item()
            told.append((*losses, sums["ones"]))
    """,
    "recorded": """
        for i, x in enumerate(loader):
            penalty = model.weight.square().sum()
            loss = critic(model(x.type(Tensor))).square().mean() + 0.1 * penalty
            told.append((loss.item(), penalty.item()))
            one.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            one.step()
    """,
    "closure": """
        one = torch.optim.LBFGS(model.parameters(), max_iter=2)
        for x in loader[:8]:
            real = x.type(Tensor)
            def closure():
                one.zero_grad()
                loss = model(real).square().mean()
                loss.backward()
                return loss
            told.append((one.step(closure).item(),))
    """,
}
RUN = """
import json, sys
source, xla = json.loads(sys.argv[1]), sys.argv[2] == "xla"
compiled = []
class Told(list):
    def append(self, row):
        super().append(row)
        if xla:
            import torch_xla.debug.metrics as metrics
            compiled.append(metrics.counter_value("UncachedCompile") or 0)
told = Told()

exec(compile(source.replace("told = []", ""), "train.py", "exec"), {"told": told, "__name__": "__main__"})
print(json.dumps([told, compiled]))
"""


def fixed(source: str, folder: Path) -> str:
    (folder / "train.py").write_text(source)
    options = engine.Options({"select": ["XLA003", "XLA101", "XLA401"]}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([folder], options, frozenset({"safe"}), write=True)
    assert not outcome.problems
    return (folder / "train.py").read_text()


def run(source: str, folder: Path, device: str) -> tuple[list[list[float]], list[int]]:
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("PJRT_DEVICE", None)
    if device == "xla":
        environment["PJRT_DEVICE"] = "CPU"
    command = [python, "-c", RUN, json.dumps(source), device]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2500:]
    losses, compiled = json.loads(done.stdout.splitlines()[-1])
    return losses, compiled


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_are_equal_and_later_steps_compile_nothing(name: str, tmp_path: Path) -> None:
    source = HEAD + textwrap.dedent(PROGRAMS[name])
    after = fixed(source, tmp_path)
    assert "step_boundary()" in after and "torch.cuda.FloatTensor" not in after
    if name == "recorded":
        assert after.index("    step_boundary()\n") < after.index("told.append")
    expected, _ = run(source, tmp_path, "cpu")
    assert run(after, tmp_path, "cpu")[0] == expected
    losses, compiled = run(after, tmp_path, "xla")
    for one, other in zip(expected, losses, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert compiled[0] > 0
    if name != "closure":  # how often a closure runs is up to the optimizer
        assert compiled[-1] == compiled[2 * len(compiled) // 3]
