"""A checkpoint that an option names, in a program that saves copies on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse
from collections import OrderedDict
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--weights", default=None)
parser.add_argument("--pretrained", default=None)
args = parser.parse_args()
def save(model, path):
    state = model.state_dict()
    weights = {saved}
    torch.save(weights, path)
def train(data):
    model = nn.Linear(3, 3).cuda()
    if args.weights:
        model.load_state_dict(torch.load({path}))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in data:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()
    save(model, "model.pt")
train([torch.zeros(3)])
"""
COPIES = "OrderedDict([[k, v.cpu()] for k, v in state.items()])"
OTHER = "import torch\ndef keep(model):\n    torch.save(model.state_dict(), 'model.pt')\n"
IMPORTS = "from other import keep\n"


def shown(folder: Path, files: dict[str, str]) -> list[bool]:
    write(files, folder)
    options = engine.Options({"select": ["XLA907"]}, isolated=True, jobs=1, cache=False)
    return [finding.no_action for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN.format(saved="state", path="args.weights")},
        {"train.py": TRAIN.format(saved=COPIES, path="args.pretrained")},
        {"train.py": TRAIN.format(saved=COPIES, path="'weights.pth'")},
        {"train.py": IMPORTS + TRAIN.format(saved=COPIES, path="args.weights"), "other.py": OTHER},
    ],
)
def test_lists_files_that_may_come_from_a_gpu(tmp_path: Path, files: dict[str, str]) -> None:
    assert shown(tmp_path, files) == [False]


def test_leaves_files_of_such_a_program_that_a_pattern_finds(tmp_path: Path) -> None:
    train = "import glob\n" + TRAIN.format(saved=COPIES, path="glob.glob('out/run-*')[0]")
    assert shown(tmp_path, {"train.py": train}) == [True]
    assert shown(tmp_path, {"train.py": train.replace("out/run", "out/pretrained")}) == [False]


@pytest.mark.parametrize("saved", [COPIES, "{k: v.cpu() for k, v in state.items()}"])
def test_leaves_files_of_a_program_that_saves_on_the_cpu(tmp_path: Path, saved: str) -> None:
    assert shown(tmp_path, {"train.py": TRAIN.format(saved=saved, path="args.weights")}) == [True]
