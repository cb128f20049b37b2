"""A name that is not known takes one of the few functions of a module of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

TRAIN = """import json

import torch
from torch import nn

import metrics

config = json.load(open("config.json"))
model = nn.Linear(3, 3).to("xla")
optimizer = torch.optim.SGD(model.parameters(), 0.1)
chosen = [TAKEN for name in config["metrics"]]
for batch in torch.utils.data.DataLoader([]):
    out = model(batch.to("xla"))
    out.sum().backward()
    optimizer.step()
    for metric in chosen:
        print(metric(out))
"""
READS = "def {name}(out):\n    return out.mean().item()\n\n"
FROM_MODULE = "getattr(metrics, name)"


def reads(folder: Path, taken: str, names: list[str]) -> list[int]:
    """Return the lines of the module of metrics that read a tensor every step."""
    (folder / "train.py").write_text(TRAIN.replace("TAKEN", taken))
    (folder / "metrics.py").write_text("".join(READS.format(name=name) for name in names))
    (folder / "run.sh").write_text("python train.py " + " ".join(names))
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    found = (f for f in report.findings if f.code == "XLA101" and f.severity != "info")
    return [f.place.location.row for f in found if Path(f.filename).name == "metrics.py"]


@pytest.mark.parametrize("taken", ["config[name]", "getattr(config, name)", "getattr(torch, name)"])
def test_runs_nothing_that_comes_from_elsewhere(tmp_path: Path, taken: str) -> None:
    assert reads(tmp_path, taken, ["accuracy"]) == []


def test_runs_none_of_many(tmp_path: Path) -> None:
    assert reads(tmp_path, FROM_MODULE, [f"metric_{i}" for i in range(5)]) == []


def test_runs_each_of_few(tmp_path: Path) -> None:
    assert reads(tmp_path, FROM_MODULE, ["accuracy", "recall"]) == [2, 5]
