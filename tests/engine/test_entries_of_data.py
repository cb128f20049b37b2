"""Entries of batches, states and records with the names of options: they give the options no values."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse, torch
from other import do
parser = argparse.ArgumentParser()
parser.add_argument("--masks", action="store_true")
args = parser.parse_args()
do(args, open)
for step in range(9):
    x = torch.ones(2)
    if args.masks:
        x = x.cuda()
    print(x)
"""


def severity(folder: Path, other: str) -> str:
    write({"train.py": TRAIN, "other.py": other}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    "other",
    [
        "def do(target, n):\n    target['masks'] = target['masks'][n:]\n",
        "def do(results, outs):\n    for i, m in enumerate(outs):\n        results[i]['masks'] = m.float()\n",
        "import torch\ndef do(_, net):\n    torch.save({'masks': net.state_dict()}, 'a.pt')\n",
        "def do(i, read):\n    sample = {'masks': read(i)}\n    return sample\n",
    ],
)
def test_data_sets_no_option(tmp_path: Path, other: str) -> None:
    assert severity(tmp_path, other) == "info"


@pytest.mark.parametrize(
    "other",
    [
        "def do(args, read):\n    args.masks = read()\n",
        "def do(args, read):\n    vars(args)['masks'] = read()\n",
        "def do(cfg, read):\n    cfg['masks'] = read()\n",
        "def do(_, read):\n    params = {'masks': read()}\n    return params\n",
        "def do(_, read):\n    return {'masks': True}\n",
    ],
)
def test_settings_set_it(tmp_path: Path, other: str) -> None:
    assert severity(tmp_path, other) == "error"
