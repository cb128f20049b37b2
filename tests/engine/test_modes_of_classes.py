"""An option for part of the work of a class is one as others are, if only calls in the program give it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

GROUP = """import torch
class Group(torch.nn.Module):
    def __init__(self, width, sample_evenly=False):
        super().__init__()
        self.width, self.sample_evenly = width, sample_evenly
    def forward(self, x):
        if self.sample_evenly:
            x = x.cuda()
        return x
class Layer(torch.nn.Module):
    def __init__(self, width, sample_evenly=False):
        super().__init__()
        self.group = Group(width, sample_evenly=sample_evenly)
    def forward(self, x):
        return self.group(x)
class Unused(torch.nn.Module):
    def __init__(self, width, sample_evenly=False):
        super().__init__()
        self.group = Group(width, sample_evenly=sample_evenly)
"""
TRAIN = "import torch, argparse\nfrom group import Group, Layer\n{}\nlayer(torch.ones(2)).sum().backward()\n"
PARSED = """parser = argparse.ArgumentParser()
parser.add_argument('--sample_evenly', action='store_true')
args = parser.parse_args()
"""


def severities(folder: Path, train: str, option: str, more: dict[str, str]) -> list[str]:
    files = {"group.py": GROUP, "train.py": TRAIN.format(train), **more}
    write({name: text.replace("sample_evenly", option) for name, text in files.items()}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [f.severity for f in engine.check([folder], options).findings if f.filename.endswith("group.py")]


@pytest.mark.parametrize(
    ("train", "option", "more"),
    [
        ("layer = Layer(3, sample_evenly=True)", "sample_evenly", {}),
        (f"{PARSED}layer = Layer(3, args.sample_evenly)", "sample_evenly", {}),
        (f"{PARSED}layer = Layer(3)", "sample_evenly", {}),
        ("layer = Layer(3)\nlayer.group.sample_evenly = True", "sample_evenly", {}),
        ("layer = Layer(3)\nlayer.group.sample_evenly = False", "sample_evenly", {}),
        ("layer = Layer(**settings)", "sample_evenly", {}),
        ("layer = build(Layer, sample_evenly=False)", "sample_evenly", {}),
        ("sample_evenly = False\nlayer = Layer(3, sample_evenly)", "sample_evenly", {}),  # for who edits it
        ("layer = Layer(3)", "sample_evenly", {"a.yaml": "sample_evenly: false\n"}),
        ("layer = Layer(3)", "sample_evenly", {"README.md": "Use `Layer(3, sample_evenly=True)`.\n"}),
        ("layer = Layer(3)", "use_cuda", {}),
        ("layer = Layer(3)", "distributed", {}),
        ("layer = Layer(3)", "use_amp", {"run.sh": "python train.py --use_amp\n"}),
        ("layer = Layer(3)", "bf16", {}),
        ("layer = Layer(3)", "training", {}),
        ("layer = Layer(3)", "step", {}),
    ],
)
def test_lists_what_users_may_choose(tmp_path: Path, train: str, option: str, more: dict[str, str]) -> None:
    assert severities(tmp_path, train, option, more) == ["error"]


@pytest.mark.parametrize(
    ("train", "option"),
    [
        ("layer = Layer(3)", "sample_evenly"),
        ("layer = Layer(3, False)", "test_mode"),
        ("layer = Layer(3, sample_evenly=False)", "compute_scores"),
        ("layer = Group(3)", "sample_evenly"),
        ("layer = Layer(3)", "use_amp"),
        ("layer = Layer(3)", "fp16"),
    ],
)
def test_lowers_what_no_call_asks_for(tmp_path: Path, train: str, option: str) -> None:
    assert severities(tmp_path, train, option, {}) == ["info"]
