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


TARGETS = """
import torch
from boxes import assign, iou
class Targets:
    def __init__(self, priors):
        self.priors = priors
    def __call__(self, boxes):
        return assign(boxes, self.priors)
"""
BOXES = """
import torch
def iou(one, other):
    return torch.max(one, other).sum(-1)
def assign(boxes, priors):
    overlap = iou(boxes.unsqueeze(0), priors.unsqueeze(1))
    best, index = overlap.max(0)
    return best.index_fill_(0, index, 2)
"""
PUT_TOGETHER = """
from targets import Targets
def build_transform(priors):
    return Targets(priors)
"""
LOADS = """
import torch
from torchvision.datasets import CocoDetection
import boxes
from put import build_transform
ds = CocoDetection("d", target_transform=build_transform(torch.ones(9, 4)))
loader = torch.utils.data.DataLoader(ds, 8, drop_last=True)
model = torch.nn.Linear(4, 4).cuda()
for x in loader:
    MORE
    model(x.cuda())
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, by a path in which no part is named like a test."""
    monkeypatch.chdir(tmp_path)
    return Path()


def aborts(folder: Path, more: str = "pass") -> list[str]:
    """Return the files with operators that abort the process on XLA."""
    texts = {"targets": TARGETS, "boxes": BOXES, "put": PUT_TOGETHER, "train": LOADS.replace("MORE", more)}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    options = engine.Options({"select": ["XLA510"]}, isolated=True, jobs=1, cache=False)
    return [Path(finding.filename).name for finding in engine.check([folder], options).findings]


def test_reports_no_operator_that_only_transforms_call(project: Path) -> None:
    assert aborts(project) == []


@pytest.mark.parametrize(
    "more",
    [
        "boxes.assign(x.cuda(), x.cuda())",
        "if ds.priors is None: boxes.assign(x.cuda(), x.cuda())",
        "build_transform(x.cuda())(x.cuda())",
    ],
)
def test_reports_operators_that_others_call_too(project: Path, more: str) -> None:
    assert aborts(project, more) == ["boxes.py"]
