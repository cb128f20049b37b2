"""A class that a program picks among those below another, by a name that an option gives, runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

FINDS = """import importlib

from models.base_model import BaseModel

def find(name):
    library = importlib.import_module(f"models.{name}_model")
    for found, cls in library.__dict__.items():
        if found.lower() == name.replace("_", "") + "model" and ASKED:
            return cls

def create_model(opt):
    return find(opt.model)(opt)
"""
BASE = """class BaseModel:
    def __init__(self, opt):
        self.opt = opt

    def losses(self):
        return {name: float(getattr(self, "loss_" + name)) for name in self.loss_names}
"""
MODEL = """import torch
from torch import nn

from models.base_model import BaseModel

class NAME(BaseModel):
    def __init__(self, opt):
        super().__init__(opt)
        self.loss_names = ["all"]
        self.net = nn.Linear(3, 3).to("xla")
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def optimize(self, batch):
        self.loss_all = self.net(batch.to("xla")).mean()
        self.optimizer.zero_grad()
        self.loss_all.backward()
        self.optimizer.step()
"""
TRAIN = """import argparse

from data import loader
from models import create_model

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="cycle_gan")
model = create_model(parser.parse_args())
for batch in loader:
    model.optimize(batch)
    print(model.losses())
"""
BELOW = "issubclass(cls, BaseModel)"


def write(folder: Path, asked: str, models: dict[str, str]) -> None:
    files = {
        "train.py": TRAIN,
        "models/__init__.py": FINDS.replace("ASKED", asked),
        "models/base_model.py": BASE,
        "data.py": "loader = []\n",
        **models,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def codes(folder: Path, *wanted: str) -> list[str]:
    """Return the errors and warnings of some rules, with their files."""
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    found = (f for f in report.findings if f.code in wanted and f.severity != "info")
    return sorted(f"{f.code} {Path(f.filename).name}" for f in found)


def told(folder: Path, asked: str, names: list[str]) -> list[str]:
    write(
        folder, asked, {f"models/m{i}_model.py": MODEL.replace("NAME", name) for i, name in enumerate(names)}
    )
    return codes(folder, "XLA401", "XLA101")


@pytest.mark.parametrize(
    "asked", ["issubclass(cls, dict)", "issubclass(cls, object)", "cls is not BaseModel"]
)
def test_finds_no_class_elsewhere(tmp_path: Path, asked: str) -> None:
    assert told(tmp_path, asked, ["CycleGANModel"]) == []


def test_finds_none_of_many_that_no_option_names(tmp_path: Path) -> None:
    assert told(tmp_path, BELOW, [f"{letter}Model" for letter in "ABCDE"]) == []


@pytest.mark.parametrize(
    "names",
    [["OnlyModel"], ["CycleGANModel", *(f"{letter}Model" for letter in "ABCDE")]],
    ids=["the-only-one", "one-of-many"],
)
def test_runs_the_class_that_is_meant(tmp_path: Path, names: list[str]) -> None:
    assert told(tmp_path, BELOW, names) == ["XLA101 base_model.py", "XLA401 train.py"]


def test_counts_what_the_class_calls_as_used(tmp_path: Path) -> None:
    """Nothing but the class, which a text never names, calls the function of another file."""
    networks = "import torch\n\ndef build():\n    assert torch.cuda.is_available()\n"
    networks += "    return torch.nn.Linear(3, 3)\n"
    model = MODEL.replace("NAME", "CycleGANModel").replace('nn.Linear(3, 3).to("xla")', "networks.build()")
    model = model.replace("from torch import nn", "from . import networks")
    (tmp_path / "models").mkdir()
    (tmp_path / "models/networks.py").write_text(networks)
    guarded = 'if __name__ == "__main__":\n    print(torch.ones(1))\n'
    (tmp_path / "tool.py").write_text(f"import torch\nimport models\n{guarded}")
    write(tmp_path, BELOW, {"models/cycle_gan_model.py": model})
    assert codes(tmp_path, "XLA003") == ["XLA003 networks.py"]
