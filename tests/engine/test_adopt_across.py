"""A program over several files that never chooses a device: each file moves what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options

NET = """from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)
"""
ENGINE = """from torch import nn


def train_epoch(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
MAIN = """import torch
from net import Net
from loops import train_epoch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = TensorDataset(torch.ones(8, 4), torch.zeros(8).long())
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_epoch(model, DataLoader(data, batch_size=4), optimizer)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(files: dict[str, str], *grades: str) -> dict[str, str]:
    write(files, Path())
    options = Options(isolated=True, jobs=1, cache=False)
    engine.fix([Path()], options, frozenset(grades or ("safe", "unsafe")), write=True)
    return {name: Path(name).read_text() for name in files}


def program(**changed: str) -> dict[str, str]:
    return {"net.py": NET, "loops.py": ENGINE, "main.py": MAIN} | {f"{n}.py": t for n, t in changed.items()}


def test_safe_fixes_move_nothing() -> None:
    assert ".to(" not in "".join(fixed(program(), "safe").values())


def test_leaves_the_loops_of_a_program_that_moves_its_batches() -> None:
    loops = ENGINE.replace(
        "    for x, y in loader:\n", "    for x, y in loader:\n        x, y = x.cuda(), y.cuda()\n"
    )
    main = MAIN.replace("model = Net()", "model = Net().cuda()")
    loops = fixed(program(loops=loops, main=main))["loops.py"]
    assert loops.count(".to(") == 2


def test_moves_batches_in_the_file_of_the_loop() -> None:
    files = fixed(program())
    assert "model.to(device)" in files["main.py"]
    assert "        x = x.to(default_device())\n" in files["loops.py"]
    assert "        y = y.to(default_device())\n" in files["loops.py"]
    assert "criterion(model(x), y)" in files["loops.py"]


def test_moves_each_batch_once_where_two_loops_bind_its_name() -> None:
    again = "\n\ndef measure(model, loader):\n    for x, y in loader:\n        print(model(x).argmax(1))\n"
    main = MAIN + "    train_epoch(model, DataLoader(data, batch_size=2), optimizer)\n"
    main = (
        main.replace("import train_epoch", "import measure, train_epoch")
        + "    measure(model, DataLoader(data))\n"
    )
    loops = fixed(program(loops=ENGINE + again, main=main))["loops.py"]
    assert loops.count("x = x.to(default_device())") == 2
    assert loops.count("y.to(default_device())") == 1


def test_moves_what_a_batch_holds() -> None:
    net = NET + "\n    def loss(self, batch):\n        return self(batch['x']).mean() * len(batch['y'])\n"
    loops = ENGINE.replace("for x, y in loader", "for batch in loader")
    loops = loops.replace("criterion(model(x), y)", 'model.loss(batch) / batch["y"].size(0)')
    loops = fixed(program(loops=loops, net=net))["loops.py"]
    assert 'batch = {k: v.to(default_device()) if hasattr(v, "to") else v for k, v in batch.items()}' in loops


def test_leaves_a_batch_of_unknown_form() -> None:
    net = NET + "\n    def loss(self, batch):\n        return self(batch['x']).mean()\n"
    loops = ENGINE.replace("for x, y in loader", "for batch in loader")
    loops = loops.replace("criterion(model(x), y)", "model.loss(batch)")
    assert ".to(" not in fixed(program(loops=loops, net=net))["loops.py"]


TRAINER = """import torch
from torch import nn


class Trainer:
    def __init__(self, model, x, y):
        self.model, self.x, self.y = model, x, y
        self.build()

    def build(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def run(self):
        for i in range(4):
            scores = self.model(torch.from_numpy(self.x[i]))
            loss = nn.functional.cross_entropy(scores, torch.tensor(self.y[i]))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""
STARTS = """import numpy as np
from net import Net
from {package} import Trainer

trainer = Trainer(Net(), np.ones((4, 2, 4), "float32"), [[0, 1]] * 4)
trainer.run()
"""


def test_a_trainer_in_a_package_chooses_the_device_where_it_needs_it() -> None:
    files = {"net.py": NET, "lib/__init__.py": "from .trainer import Trainer\n", "lib/trainer.py": TRAINER}
    trainer = fixed({**files, "main.py": STARTS.format(package="lib")})["lib/trainer.py"]
    assert "\ndevice =" not in trainer
    assert "        self.model.to(default_device())\n" in trainer
    assert "torch.from_numpy(self.x[i]).to(default_device())" in trainer


def test_a_function_with_the_name_of_its_file_is_followed() -> None:
    files = {"net.py": NET, "lib/__init__.py": "from .train_epoch import train_epoch\n", "main.py": MAIN}
    files |= {"lib/train_epoch.py": ENGINE, "main.py": MAIN.replace("from loops", "from lib")}
    assert "x = x.to(default_device())" in fixed(files)["lib/train_epoch.py"]
