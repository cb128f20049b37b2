"""A program finds what a package takes by star imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

TRAINER = """import torch
from torch import nn

class Trainer:
    def __init__(self):
        self.net = nn.Linear(3, 3).to("xla")
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)

    def step(self, batch):
        loss = self.net(batch.to("xla")).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
MAIN = """{imported}
from data import loader

trainer = {made}
for batch in loader:
    trainer.step(batch)
"""
STARS = {"pk/__init__.py": "from .parts import *\n", "pk/parts/__init__.py": "from .trainer import *\n"}


def told(folder: Path, files: dict[str, str]) -> list[str]:
    """Return where a training loop has no step boundary."""
    for name, text in {"data.py": "loader = []\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return [Path(f.filename).name for f in report.findings if f.code == "XLA401"]


@pytest.mark.parametrize(
    ("imported", "made"), [("import pk", "pk.Trainer()"), ("from pk import Trainer", "Trainer()")]
)
def test_follows_packages_that_take_all_names(tmp_path: Path, imported: str, made: str) -> None:
    main = {"main.py": MAIN.format(imported=imported, made=made)}
    files = {**STARS, "pk/parts/trainer.py": TRAINER, **main}
    assert told(tmp_path, files) == ["main.py"]


def test_ends_where_two_packages_take_from_each_other(tmp_path: Path) -> None:
    main = {"main.py": MAIN.format(imported="import pk", made="pk.Trainer()")}
    circle = {"pk/__init__.py": "from .other import *\n", "pk/other.py": "from pk import *\n"}
    assert told(tmp_path, {**circle, **main}) == []


def test_a_name_that_the_package_has_itself_wins(tmp_path: Path) -> None:
    own = {"pk/__init__.py": STARS["pk/__init__.py"] + "class Trainer:\n    def step(self, batch): pass\n"}
    main = {"main.py": MAIN.format(imported="import pk", made="pk.Trainer()")}
    files = {**STARS, **own, "pk/parts/trainer.py": TRAINER, **main}
    assert told(tmp_path, files) == []
