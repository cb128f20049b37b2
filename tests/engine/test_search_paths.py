"""Folders that shell scripts and images put on `PYTHONPATH`."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

LOSS = "import torch\n\ndef loss(pred, mask):\n    return pred[mask].sum()\n"
TRAIN = """import torch
from loss import loss

def train(model, loader, optimizer):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        optimizer.zero_grad()
        value = loss(model(x), y > 0)
        value.backward()
        optimizer.step()

train(torch.nn.Linear(2, 2).cuda(), [], torch.optim.SGD([], 0.1))
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def frequencies(folder: Path, files: dict[str, str]) -> list[str]:
    given = {"src/parts/loss.py": LOSS, "src/bin/train.py": TRAIN, **files}
    for name, text in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = engine.check([folder], Options({"select": ["XLA202"]}, isolated=True, jobs=1, cache=False))
    return [one.frequency for one in report.findings if one.filename.endswith("parts/loss.py")]


@pytest.mark.parametrize(
    "files",
    [
        {"run/path.sh": "export PYTHONPATH=$ROOT/data:$ROOT/src/parts/:$PYTHONPATH\n"},
        {"run.sh": 'PYTHONPATH="${PWD}/src/parts:$PYTHONPATH" python src/bin/train.py\n'},
        {"Dockerfile": "FROM python:3.11\nENV PYTHONPATH=/app/src/parts\n"},
        {"run.sh": "export PYTHONPATH=./parts\n"},
    ],
)
def test_imports_from_a_folder_that_a_script_adds(tmp_path: Path, files: dict[str, str]) -> None:
    assert frequencies(tmp_path, files) == ["step"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"run.sh": "# export PYTHONPATH=src/parts\n"},
        {"run.sh": "export PYTHONPATH=$PWD:$PYTHONPATH\n"},
        {"run.sh": "export PYTHONPATH=parts\n", "old/parts/net.py": "x = 1\n"},  # which one?
        {"run.sh": "export PYTHONPATH=src/parts\n", "src/loss.py": "def loss(a, b):\n    return a\n"},
    ],
)
def test_other_imports(tmp_path: Path, files: dict[str, str]) -> None:
    assert "step" not in frequencies(tmp_path, files)
