"""An import whose uses are all under an option that nothing turns on."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

PROGRAM = """import argparse
import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
args = parser.parse_args()
model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler() if args.amp else None

for _ in range(9):
    optimizer.zero_grad()
    x = torch.ones(2, 8).cuda()
BODY
    optimizer.step()
"""
UNDER = (
    "    if args.amp:\n        with autocast():\n            loss = model(x).sum()\n        loss.backward()\n"
)
PLAIN = "    else:\n        model(x).sum().backward()\n"


def imports(folder: Path, body: str, page: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many findings of XLA801 name the import."""
    monkeypatch.chdir(folder)
    Path("train.py").write_text(PROGRAM.replace("BODY", body))
    Path("README.md").write_text(page)
    report = engine.check([Path()], Options({"select": ["XLA801"]}, isolated=True, jobs=1, cache=False))
    return ["from `torch.cuda.amp`" in one.message for one in report.findings].count(True)


def test_is_no_finding_where_nothing_turns_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert imports(tmp_path, UNDER + PLAIN, "    python train.py\n", monkeypatch) == 0


@pytest.mark.parametrize(
    ("body", "page"),
    [
        (UNDER + PLAIN, "    python train.py --amp\n"),
        (UNDER + "    with autocast():\n        model(x).sum().backward()\n", "    python train.py\n"),
        ("    with autocast():\n        model(x).sum().backward()\n", "    python train.py\n"),
    ],
)
def test_is_one_where_a_use_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, page: str
) -> None:
    assert imports(tmp_path, body, page, monkeypatch) == 1
