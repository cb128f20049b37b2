"""Moves under a test of the program's device reach other devices than CUDA."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
device = torch.device(args.device)
model, loss = nn.Linear(4, 4), nn.MSELoss()
"""


def written(code: str) -> list[str]:
    """The lines that the fix adds; what it adds has to leave nothing to report."""
    source = HEAD + textwrap.dedent(code)
    options = engine.Options(
        {"select": ["XLA013"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    assert outcome.stdin.text == source or not outcome.after.findings
    old = source.splitlines()
    return [line.strip() for line in outcome.stdin.text.splitlines() if line not in old]


@pytest.mark.parametrize(
    ("test", "device"),
    [
        ('device.type == "cuda"', "device"),
        ('"cuda" in str(device)', "device"),
        ('args.device.startswith("cuda")', "args.device"),
        ('args.device == "cuda"', "args.device"),
    ],
)
@pytest.mark.parametrize("flag", [False, True])
def test_the_other_branch_moves(test: str, device: str, flag: bool) -> None:
    head = f"use_cuda = {test}\nif use_cuda:\n" if flag else f"if {test}:\n"
    moves = "    model = model.cuda()\n    loss.cuda()\n"
    lines = ["else:", f"model = model.to({device})", f"loss.to({device})"]
    assert written(head + moves) == lines


@pytest.mark.parametrize(
    "code",
    [
        'if device.type == "cuda":\n    model = model.cuda()\n    print(model)\n',
        'if device.type == "cuda":\n    model = model.cuda()\nelse:\n    model = model.float()\n',
        'if device.type == "cuda" and args.amp:\n    model = model.cuda()\n',
        'use = device.type == "cuda"\ndevice = torch.device("cpu")\nif use:\n    model = model.cuda()\n',
        'if device.type != "cpu":\n    model = model.cuda()\n',
    ],
)
def test_other_branches_stay(code: str) -> None:
    assert written(code) == []
