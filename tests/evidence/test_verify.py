"""`xlamig verify` against programs that draw random numbers, and a part of `benchmarks/verify_gate`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.verify_gate.cases import Case, cases

pytestmark = pytest.mark.evidence

PYTHON = os.environ.get("XLAMIG_XLA_PYTHON", sys.executable)
COMPARE = """
import torch, torch_xla
from torch.distributions import Categorical, Dirichlet, Exponential, Gamma, Normal
from torch.nn import functional as F
from xlamig.observe.inside import counters, randomness

randomness.draw_on_cpu()
values = torch.randn(4, 6)

def gradient(x, function):
    x = x.detach().requires_grad_()
    function(x).pow(2).sum().backward()
    return x.grad

def into_a_view(x):
    base = torch.zeros(6, 6, device=x.device)
    base[1:3].normal_()
    base.t()[4].uniform_()
    return base

def without_autograd(x):
    with torch.inference_mode():
        return F.dropout(x, 0.5) + torch.rand_like(x)

def factories(x):
    size, device = (5,), x.device
    drawn = [torch.randn(size, device=device), torch.rand(size, device=device),
             torch.normal(0.0, 1.0, size, device=device)]
    whole = [torch.randint(0, 9, size, device=device), torch.randperm(5, device=device)]
    return torch.cat([*drawn, *(one.float() for one in whole)])

draws = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "of a view": lambda x: F.dropout(x[1:], 0.5),
    "of a transposed view": lambda x: F.dropout(x.t(), 0.5) + torch.rand_like(x.t()),
    "backward": lambda x: gradient(x, lambda x: F.dropout(torch.relu(x), 0.5)),
    "rrelu": lambda x: gradient(x, lambda x: F.rrelu(x, training=True)),
    "into a view": into_a_view,
    "without autograd": without_autograd,
    "factories": factories,
    "like": lambda x: torch.randn_like(x) + torch.randint_like(x, 9),
    "from values": lambda x: torch.bernoulli(x.sigmoid()) + torch.normal(x, 1.0) + torch.poisson(x.exp()),
    "multinomial": lambda x: torch.multinomial(x.softmax(1), 2).float(),
    "distributions": lambda x: Normal(x, 1.0).rsample() + Gamma(x.exp(), 1.0).rsample()
        + Dirichlet(x.exp()).rsample() + Exponential(x.exp()).sample(),
    "categorical": lambda x: Categorical(logits=x).sample().float(),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5),
}
for name, draw in draws.items():
    torch.manual_seed(0)
    with randomness.DrawInOrder():
        expected = draw(values)
    torch.manual_seed(0)
    assert torch.allclose(expected, draw(values.to("xla")).cpu(), atol=1e-4), name

probabilities = values.to("xla").sigmoid()
before = counters.read()
torch.bernoulli(probabilities)
assert counters.read()[:3] == before[:3]
"""


def test_xla_draws_what_the_cpu_draws() -> None:
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    run = subprocess.run(
        [PYTHON, "-c", COMPARE], env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr


CASES = {case.name: case for case in cases()}


@pytest.mark.parametrize("name", ["recurrent/native", "recurrent/changed-dropout"])
def test_a_part_of_the_gate(tmp_path: Path, name: str) -> None:
    code, output = verify(CASES[name], tmp_path)
    assert (code == 0) is CASES[name].right, output
    assert ("FAIL" not in output) is CASES[name].right


def verify(case: Case, folder: Path) -> tuple[int, str]:
    for file, text in case.files.items():
        (folder / file).write_text(text)
    original = ["--original", "original.py"] if "original.py" in case.files else []
    command = [sys.executable, "-c", "from xlamig.cli import main; main()", "verify", "--python", PYTHON]
    run = subprocess.run(
        [*command, *original, "train.py"],
        cwd=folder, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    return run.returncode, run.stdout
