"""Modules and callables that transform the samples of a dataset work on the CPU, and run in no step."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

AUGMENT = """
import torch
from torch import nn
from ops import crop

class Erase(nn.Module):
    def __init__(self, fn=None):
        super().__init__()
        self.fn = fn
    def forward(self, x):
        if x.max() > 1:
            x = x / 255
        mixed = 0
        for w in x:
            mixed = mixed + w * self.fn(x)
        return x - x[x > 0.5].mean() + crop(x)
"""
OPS = """
import torch
def crop(x):
    if torch.max(x) > 1:
        return x[x > 0.5].mean()
    return x.sum()
"""
TRAIN = """
import torch
from torch import nn
from torchvision import transforms
from torchvision.datasets import CIFAR10
from aug import Erase

BUILD

def main(args):
    model = nn.Linear(8, 8).cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    MAKE
    loader = torch.utils.data.DataLoader(ds, 8, drop_last=True)
    for x, y in loader:
        x = x.cuda()
        loss = model(USE).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
main(0)
"""


def warned(folder: Path, make: str, build: str = "", use: str = "x") -> set[str]:
    """Return the files with warnings about dynamic shapes, host reads and loops in transforms."""
    (folder / "aug.py").write_text(AUGMENT)
    (folder / "ops.py").write_text(OPS)
    train = TRAIN.replace("MAKE", make.replace("\n", "\n    ")).replace("BUILD", build).replace("USE", use)
    (folder / "train.py").write_text(train)
    options = engine.Options({"select": ["XLA106", "XLA20", "XLA402"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([folder], options).findings
    return {Path(finding.filename).name for finding in found if finding.severity != "info"}


@pytest.mark.parametrize(
    ("make", "use"),
    [
        ("ds, aug = CIFAR10('d'), Erase()", "aug(x)"),
        ("aug = Erase()\nds = CIFAR10('d', transform=transforms.ToTensor())", "aug(x)"),
        ("aug, tr = Erase(), args.tr\nds = CIFAR10('d', transform=tr)", "aug(x)"),
        ("aug = Erase()\nds = CIFAR10('d', transform=args.pair(aug))", "aug(x)"),
        ("aug = Erase()\nlayers = []\nlayers.append(Erase())\nds = CIFAR10('d')", "layers[0](x)"),
    ],
)
def test_reports_modules_that_steps_run(tmp_path: Path, make: str, use: str) -> None:
    assert warned(tmp_path, make, use=use) == {"aug.py", "ops.py"}


@pytest.mark.parametrize(
    "make",
    [
        "ds = CIFAR10('d', transform=Erase())",
        "ds = CIFAR10('d', transform=transforms.Compose([transforms.ToTensor(), Erase()]))",
        "tr = Erase()\nds = CIFAR10('d', transform=tr)",
        "tr = []\nif args:\n    tr.append(Erase())\nds = CIFAR10('d', transform=transforms.Compose(tr))",
        "tr, more = [], []\nmore += [Erase()]\nds = CIFAR10('d', transform=transforms.Compose([*tr, *more]))",
        "tr = []\ntr.insert(0, Erase())\nds = CIFAR10('d', transform=transforms.Compose(tr if args else []))",
    ],
)
def test_reports_nothing_in_transforms_of_samples(tmp_path: Path, make: str) -> None:
    assert warned(tmp_path, make) == set()


def test_reports_nothing_in_transforms_that_a_function_makes(tmp_path: Path) -> None:
    build = """def build(train):
    tr = [transforms.ToTensor()]
    if train:
        tr += [Erase()]
    return transforms.Compose(tr)"""
    assert warned(tmp_path, "tr = build(True)\nds = CIFAR10('d', transform=tr)", build) == set()
    build = "def build(): return Erase()"
    assert warned(tmp_path, "tr = build()\nds = CIFAR10('d', transform=tr)", build) == set()
