"""Files with objects that one file of a program saves and another one loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

LOAD = """import torch

def load(model, path):
    state = torch.load(path, map_location='cpu'MORE)
    model.load_state_dict(state['model'])
    return state['epoch']
"""
TRAIN = """import argparse, torch
from load import load

def main(model):
    args = argparse.ArgumentParser().parse_args()
    keep({'model': model.state_dict(), 'epoch': 3, 'args': ARGS}, args.path)

def keep(*args):
    torch.save(*args)
"""


def reported(folder: Path, args: str = "args", more: str = "", train: str = TRAIN) -> int:
    (folder / "load.py").write_text(LOAD.replace("MORE", more))
    (folder / "train.py").write_text(train.replace("ARGS", args))
    return len(engine.check([folder], Options({"select": ["XLA515"]}, isolated=True)).findings)


def test_another_file_saves_the_object(tmp_path: Path) -> None:
    assert reported(tmp_path) == 1


@pytest.mark.parametrize(("args", "more"), [("vars(args)", ""), ("args", ", weights_only=False")])
def test_what_is_plain_or_trusted_loads(tmp_path: Path, args: str, more: str) -> None:
    assert not reported(tmp_path, args, more)


def test_another_program_saves_it(tmp_path: Path) -> None:
    assert not reported(tmp_path, train=TRAIN.replace("from load import load", "from other import load"))


def test_the_program_allows_the_class(tmp_path: Path) -> None:
    allowed = "torch.serialization.add_safe_globals([argparse.Namespace])\n"
    assert not reported(tmp_path, train=TRAIN + allowed)
    (tmp_path / "trust.py").write_text(f"import argparse, torch\n{allowed}")
    assert not reported(tmp_path, train="import trust\n" + TRAIN)
