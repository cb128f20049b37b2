"""A flag for CUDA that other files ask: it is decided where it is set, for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options

SOLVER = """import torch
from torch import nn


class Solver:
    def __init__(self, args):
        self.args = args
        self.model = nn.Linear(4, 2)
        if self.args.{flag}:
            self.model = self.model.cuda()

    def train(self, loader):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.args.lr)
        for x, y in loader:
            if self.args.{flag}:
                x, y = x.cuda(), y.cuda()
            loss = nn.functional.cross_entropy(self.model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
MAIN = """import argparse

import torch
from data import loader
from solver import Solver

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    args.{flag} = torch.cuda.is_available()
    Solver(args).train(loader(args))
"""
LOADER = "import torch\n\n\ndef loader(args):\n    return torch.utils.data.DataLoader(range(8){more})\n"
DECIDED = 'args.{flag} = default_device().type != "cpu"'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(files: dict[str, str], *grades: str) -> dict[str, str]:
    write(files, Path())
    options = Options(isolated=True, jobs=1, cache=False)
    engine.fix([Path()], options, frozenset(grades or ("safe", "unsafe")), write=True)
    return {name: Path(name).read_text() for name in files}


def program(flag: str, main: str = MAIN, solver: str = SOLVER) -> dict[str, str]:
    files = {"main.py": main, "solver.py": solver, "data.py": LOADER.format(more="")}
    return {name: text.replace("{flag}", flag) for name, text in files.items()}


def test_leaves_a_flag_that_places_nothing_anywhere() -> None:
    solver = SOLVER.replace(".cuda()", ".float()")
    main = fixed(program("pinned", solver=solver))["main.py"]
    assert "args.pinned = torch.cuda.is_available()" in main


def test_leaves_the_flag_of_another_name() -> None:
    main = MAIN.replace("args.{flag} =", "args.half =")
    assert "args.half = torch.cuda.is_available()" in fixed(program("gpu", main=main))["main.py"]


def test_is_not_safe_where_other_files_ask() -> None:
    assert "args.gpu = torch.cuda.is_available()" in fixed(program("gpu"), "safe")["main.py"]


@pytest.mark.parametrize("flag", ["gpu", "is_cuda"])
def test_decides_an_attribute_that_other_files_ask(flag: str) -> None:
    files = fixed(program(flag))
    assert DECIDED.format(flag=flag) in files["main.py"]
    assert f"if self.args.{flag}:" in files["solver.py"]
    assert "self.model = self.model.to(default_device())" in files["solver.py"]
    assert ".cuda()" not in files["solver.py"]


@pytest.mark.parametrize("call", ["train(model, cuda)", "train(model, cuda=cuda)", "train(model, gpu=cuda)"])
def test_decides_a_flag_that_is_passed_to_another_file(call: str) -> None:
    name = "gpu" if "gpu" in call else "cuda"
    train = f"import torch\n\n\ndef train(model, {name}=False):\n    x = torch.ones(2, 4)\n    if {name}:\n"
    train += "        x = x.cuda()\n        model.cuda()\n    model(x).sum().backward()\n"
    main = "import torch\nfrom torch import nn\nfrom train import train\n\nmodel = nn.Linear(4, 2)\n"
    main += f"cuda = torch.cuda.is_available()\n{call}\n"
    files = fixed({"main.py": main, "train.py": train})
    assert 'cuda = default_device().type != "cpu"' in files["main.py"]
    assert f"if {name}:\n        x = x.to(default_device())" in files["train.py"]


def test_asks_a_tensor_although_an_option_has_the_name() -> None:
    """`is_cuda` of the options is a flag; that of a tensor follows the tensor."""
    noise = "\n    def noise(self, z):\n        h = torch.ones(3)\n        if z.is_cuda:\n"
    noise += "            h = h.cuda()\n"
    solver = SOLVER.replace("self.model(x)", "self.model(self.noise(x))") + noise + "        return h + z\n"
    assert "h = h.to(z.device)" in fixed(program("is_cuda", solver=solver))["solver.py"]


CONFIG = """import torch


class Config:
    lr = 0.1

    def read(self):
        self.{flag} = torch.cuda.is_available()
"""
IMPORTING = SOLVER.replace("import torch\n", "import torch\nfrom config import options\n", 1)


def configured(config: str, solver: str = IMPORTING, flag: str = "gpu") -> dict[str, str]:
    """Return a program whose files import the one that decides, which imports none of them."""
    main = (
        "from config import options\nfrom solver import Solver\n\noptions.read()\nSolver(options).train([])\n"
    )
    files = {"config.py": f"{config}\n\noptions = Config()\n", "solver.py": solver, "main.py": main}
    return {name: text.replace("{flag}", flag) for name, text in files.items()}


def test_leaves_a_flag_that_no_importer_places_by() -> None:
    solver = IMPORTING.replace(".cuda()", ".float()")
    assert "self.gpu = torch.cuda.is_available()" in fixed(configured(CONFIG, solver))["config.py"]


def test_leaves_a_local_name_that_only_sounds_like_the_flag() -> None:
    config = CONFIG.replace("self.{flag} =", "{flag} =") + "        print({flag})\n"
    assert "gpu = torch.cuda.is_available()" in fixed(configured(config))["config.py"]


def test_decides_an_attribute_for_the_files_that_import_it() -> None:
    files = fixed(configured(CONFIG))
    assert 'self.gpu = default_device().type != "cpu"' in files["config.py"]
    assert ".cuda()" not in files["solver.py"]


@pytest.mark.parametrize("imported", ["from config import *", "from config import GPU"])
def test_decides_a_constant_for_the_files_that_import_it(imported: str) -> None:
    solver = SOLVER.replace("self.args.{flag}", "GPU").replace(
        "import torch\n", f"import torch\n{imported}\n", 1
    )
    main = "from solver import Solver\n\nSolver(None).train([])\n"
    config = "import torch\n\nGPU = torch.cuda.is_available()\n"
    files = fixed({"config.py": config, "solver.py": solver, "main.py": main})
    assert 'GPU = default_device().type != "cpu"' in files["config.py"]
    assert ".cuda()" not in files["solver.py"]
