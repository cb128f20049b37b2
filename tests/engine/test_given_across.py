"""Arguments that a program gives a function in another file hold too where the function runs for a step."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

MAIN = """import torch
import torch_xla
from torch import nn
from metrics import Metrics

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.metrics = Metrics()

    def forward(self, x):
        return self.fc(x)

    @torch.no_grad()
    def sample(self, n):
        kinds = self(torch.randn(n, 3, device=torch_xla.device())).argmax(-1)
        found = []
        for i in range(n):
            found.append([i, KIND])
        return found

    def evaluate(self):
        samples = []
        for _ in range(9):
            samples.extend(self.sample(10))
        self.metrics.forward(samples)

net = Net().to(torch_xla.device())
for epoch in range(9):
    net.evaluate()
"""
METRICS = """from torch import nn
from tools import compute

class Metrics(nn.Module):
    def forward(self, samples: list):
        return compute(samples)
"""
TOOLS = """import torch

def compute(samples):
    for sample in samples:
        index, kind = sample
        print(torch.nonzero(kind))
"""


@pytest.mark.parametrize(("kind", "found"), [("kinds[i].cpu()", []), ("kinds[i]", ["tools.py"])])
def test_tensors_of_the_host_in_lists(tmp_path: Path, kind: str, found: list[str]) -> None:
    files = {"main.py": MAIN.replace("KIND", kind), "metrics.py": METRICS, "tools.py": TOOLS}
    write(files, tmp_path)
    options = engine.Options({"select": ["XLA201"]}, isolated=True, jobs=1, cache=False)
    findings = engine.check([tmp_path], options).findings
    assert [Path(finding.filename).name for finding in findings] == found
