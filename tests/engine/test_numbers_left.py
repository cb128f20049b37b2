"""Options that are None where they would be a number: nothing turns on what they do."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
from torch.utils.checkpoint import checkpoint
class Net(torch.nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.block = torch.nn.Linear(3, 3)
    def forward(self, x):
        if self.rate:
            return checkpoint(self.block, x)
        return self.block(x)
"""
TRAIN = """import argparse
from net import Net
parser = argparse.ArgumentParser()
parser.add_argument("--rate", {given})
args = parser.parse_args()
net = Net(rate=args.rate)
"""
CONFIG = """from typing import Optional
from net import Net
class Config:
    rate: {given}
def make(config: Config):
    return Net(config.rate)
"""
NUMBER = {"train.py": TRAIN.format(given="type=float, default=None")}
FIELD = {"config.py": CONFIG.format(given="Optional[float] = None")}


def severity(folder: Path, files: dict[str, str]) -> str:
    write({"net.py": NET, **files}, folder)
    options = engine.Options({"select": ["XLA806"]}, isolated=True, jobs=1, cache=False)
    (finding,) = engine.check([folder], options).findings
    return finding.severity


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN.format(given="default=None")},  # a text that has to be given
        {"train.py": TRAIN.format(given="type=str, default=None")},
        {"train.py": TRAIN.format(given="type=float")},
        {"train.py": TRAIN.format(given="type=float, default=None, required=True")},
        {"train.py": TRAIN.format(given="type=float, default=None").replace("=args.rate", "=args.rate or 3")},
        {**NUMBER, "run.sh": "python train.py --rate 0.1\n"},
        {**NUMBER, "README.md": "Run `python train.py --rate=0.1`\n"},
        {**NUMBER, "a.yaml": "rate: 0.1\n"},
        {"config.py": CONFIG.format(given="Optional[str] = None")},
        {"config.py": CONFIG.format(given="float")},
        {**FIELD, "a.yaml": "rate: 0.1\n"},
        {**FIELD, "main.py": "from config import Config, make\nmake(Config(rate=0.1))\n"},
        {**FIELD, "main.py": "from config import Config, make\nc = Config()\nc.rate = 0.1\nmake(c)\n"},
    ],
)
def test_lists_what_something_may_turn_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert severity(tmp_path, files) == "error"


@pytest.mark.parametrize(
    "files",
    [
        NUMBER,
        {"train.py": TRAIN.format(given="type=int, default=None, help='none'")},
        {**NUMBER, "run.sh": "python train.py\n"},
        FIELD,
        {"config.py": CONFIG.format(given="float | None = None")},
        {**FIELD, "a.yaml": "rate: null\n"},
        {**FIELD, "main.py": "from config import Config, make\nmake(Config())\n"},
    ],
)
def test_lowers_what_no_number_turns_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert severity(tmp_path, files) == "info"
