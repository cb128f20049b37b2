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


SAMPLE = """import torch
from nets import Net

def main():
    model = Net()
    state = torch.load(input(), map_location='cpu')
    model.load_state_dict(state['model'])
    print(state['epoch'])

if __name__ == '__main__':
    main()
"""


def beside(
    folder: Path, args: str = "args", nets: str = "nets", name: str = "sample.py", sample: str = SAMPLE
) -> int:
    (folder / "nets.py").write_text("from torch import nn\nclass Net(nn.Module): pass\n")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(sample)
    main = "\nif __name__ == '__main__':\n    main(Net())\n"
    train = TRAIN.replace("from load import load", f"from {nets} import Net").replace("ARGS", args)
    (folder / "train.py").write_text(train + main)
    return len(engine.check([folder], Options({"select": ["XLA515"]}, isolated=True)).findings)


def test_the_script_beside_it_trains_the_same_model(tmp_path: Path) -> None:
    assert beside(tmp_path) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"args": "vars(args)"},
        {"nets": "others"},
        {"name": "tools/sample.py"},
        {"sample": SAMPLE.replace("'epoch'", "'x'")},
    ],
)
def test_leaves_what_other_scripts_do_not_save(tmp_path: Path, other: dict[str, str]) -> None:
    assert not beside(tmp_path, **other)
