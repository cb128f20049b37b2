"""A module of a package chooses the device while it is imported, where only plain scripts import it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options

UTILS = 'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
TRAIN = """import torch
from lib.utils import device

model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if __name__ == "__main__":
    for x in torch.randn(9, 3, 4):
        optimizer.zero_grad()
        model(x.to(device)).sum().backward()
        optimizer.step()
"""
SPAWN = TRAIN + "    torch.multiprocessing.spawn(print)\n"
GROUP = TRAIN.replace("model =", "torch.distributed.init_process_group('nccl')\nmodel =")
DEFAULT = "import torch\n\ndef f(device='cuda' if torch.cuda.is_available() else 'cpu'):\n    return device\n"
LIBRARY = "import torch\nfrom lib.utils import device\n\ndef f(x):\n    return x.to(device)\n"


def fixed(root: Path, **files: str) -> str:
    """The module of the package as the fixes leave it."""
    names = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    write({"lib/__init__.py": "", "lib/utils.py": UTILS, **names}, root)
    engine.fix(
        [Path()], Options(isolated=True, jobs=1, cache=False), frozenset({"safe", "unsafe"}), write=True
    )
    return (root / "lib/utils.py").read_text()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "files",
    [
        {"train": SPAWN},
        {"train": GROUP},
        {"train": TRAIN, "setup": "from setuptools import setup\nsetup(name='lib')\n"},
        {"train": TRAIN, "jobs": "from lib.utils import device\nimport submitit\n"},
        {"lib__model": LIBRARY},
    ],
)
def test_a_library_and_what_launchers_import_choose_no_device(files: dict[str, str], project: Path) -> None:
    assert fixed(project, **files) == UTILS


def test_a_default_of_a_parameter_stays(project: Path) -> None:
    text = fixed(project, train=TRAIN.replace("device\n", "f\ndevice = f()\n", 1), lib__utils=DEFAULT)
    assert "default_device" not in text


def test_a_module_that_only_scripts_import_chooses_the_device(project: Path) -> None:
    assert "device = default_device()" in fixed(project, train=TRAIN)


def test_so_does_one_that_they_import_through_another(project: Path) -> None:
    train = TRAIN.replace("lib.utils", "lib.model")
    assert "device = default_device()" in fixed(project, train=train, lib__model=LIBRARY)
