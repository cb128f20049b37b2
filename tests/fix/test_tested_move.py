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


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('x.cuda(device) if device.type == "cuda" else x', "x.to(device)"),
        (
            'x.cuda(device, non_blocking=True) if device.type == "cuda" else x',
            "x.to(device, non_blocking=True)",
        ),
        ('x.cuda(device=device) if "cuda" in str(device) else x', "x.to(device=device)"),
        ('x.to(device) if device.type == "cuda" else x', "x.to(device)"),
        ('b["x"].cuda(device) if device.type == "cuda" else b["x"]', 'b["x"].to(device)'),
        # another device of CUDA stays
        (
            'b.cuda(args.gpu, non_blocking=True) if "cuda" in str(device) else b',
            'b.cuda(args.gpu, non_blocking=True) if "cuda" in str(device) else '
            "b.to(device, non_blocking=True)",
        ),
        (
            'x.cuda() if args.device == "cuda" else x',
            'x.cuda() if args.device == "cuda" else x.to(args.device)',
        ),
    ],
)
def test_a_choice_of_a_move_moves(code: str, expected: str) -> None:
    body = "def put(x, b, device):\n    return {}\n\n\ndef other(device):\n    return device\n"
    assert written(body.format(code)) == [f"return {expected}"]


@pytest.mark.parametrize(
    "code",
    [
        'x.cuda(device) if device.type == "cuda" else x.float()',
        'x.cuda(device) if device.type == "cuda" else y',
        'x.cuda(device).half() if device.type == "cuda" else x',
        'x.cuda(device) if device.type == "cuda" and args.amp else x',
        'x.cuda(device) if device.type == "cuda" else x.to(device)',
        "x.cuda(device) if device.type == 'cuda' else None",
    ],
)
def test_other_choices_stay(code: str) -> None:
    assert written(f"def put(x, y, device):\n    return {code}\n") == []
