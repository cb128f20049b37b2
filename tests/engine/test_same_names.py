"""Functions, classes and options that have namesakes in other modules."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
from torch.utils.checkpoint import checkpoint
class Net(torch.nn.Module):
    def __init__(self, width=3, use_ckpt=False):
        super().__init__()
        self.use_ckpt = use_ckpt
        self.block = torch.nn.Linear(width, width)
    def forward(self, x):
        if self.use_ckpt:
            return checkpoint(self.block, x)
        return self.block(x)
"""
OTHER = "import torch\n{}\nclass Net(torch.nn.Module):\n    def __init__(self, use_ckpt): ...\n"


def severity(folder: Path, files: dict[str, str], text: str = NET) -> str:
    write({"net.py": text, **files}, folder)
    options = engine.Options({"select": ["XLA806"]}, isolated=True, jobs=1, cache=False)
    found = [f for f in engine.check([folder], options).findings if f.filename.endswith("net.py")]
    return found[0].severity if found else ""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": "from net import Net\nNet(3)\n", "b.py": OTHER.format("") + "Net(True)\n"}, "info"),
        ({"train.py": "from net import Net\nNet(3)\n", "b.py": OTHER.format("") + "Net(1, x)\n"}, "info"),
        ({"train.py": "from net import Net\nfrom b import Net as B\nNet(3)\nB(1, x)\n"}, "info"),
        ({"train.py": "import net\nnet.Net(3)\n", "b.py": OTHER.format("") + "Net(1, x)\n"}, "info"),
        ({"train.py": "from net import Net\nNet(3, True)\n", "b.py": OTHER.format("")}, "error"),
        ({"train.py": "import net\nnet.Net(3, True)\n", "b.py": OTHER.format("")}, "error"),
        (
            {"train.py": "from parts import Net\nNet(3, True)\n", "parts/__init__.py": "from net import *\n"},
            "error",
        ),
        ({"train.py": "import net\npartial(net.Net, use_ckpt=True)()\n", "b.py": OTHER.format("")}, "error"),
        (
            {
                "train.py": "from net import Net\nNet(3)\n",
                "b.py": OTHER.format("import net") + "class Wide(net.Net):\n    def __init__(self):\n"
                "        super().__init__(3, True)\n",
            },
            "error",
        ),
    ],
)
def test_classes_of_one_name_have_options_of_their_own(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    assert severity(tmp_path, {"b.py": OTHER.format(""), **files}) == expected


STEP = """import torch
from torch.utils.checkpoint import checkpoint
def epoch(block, x, thrifty):
    if thrifty:
        return checkpoint(block, x)
    return block(x)
if __name__ == "__main__":
    for x in loader:
        epoch(torch.nn.Linear(2, 2), x, {})
"""


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("False", "def epoch(block, x, device): ...\nepoch(1, 2, 'cuda')\n", "info"),
        ("args.thrifty", "def epoch(block, x, device): ...\nepoch(1, 2, 'cuda')\n", "error"),
        ("False", "from net import epoch\nepoch(1, 2, True)\n", "error"),
        ("False", "import net\nnet.epoch(1, 2, True)\n", "error"),
        ("False", "import net\ndef epoch(block): ...\nnet.epoch(1, 2, True)\n", "error"),
        ("False", "class Task:\n    def epoch(self, x, y, z): ...\nTask().epoch(1, 2, True)\n", "error"),
    ],
)
def test_functions_of_one_name_have_arguments_of_their_own(
    tmp_path: Path, own: str, other: str, expected: str
) -> None:
    assert severity(tmp_path, {"b.py": f"import torch\n{other}"}, STEP.format(own)) == expected


NORMED = """import torch
def normalize(x, kind='group'):
    return x.cuda() if kind == 'batch' else x
class Block(torch.nn.Module):
    def __init__(self, kind='group'):
        super().__init__()
        self.kind = kind
    def forward(self, x):
        return normalize(x, self.kind)
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("import torch.nn.functional as F\nF.normalize(x, p)", "info"),
        ("from torchvision.transforms import functional\nfunctional.normalize(x, mean, std)", "info"),
        ("from torch.nn.functional import normalize\nnormalize(x, p)", "info"),
        ("import net\nnet.normalize(x, p)", "error"),
        ("from net import normalize\nnormalize(x, p)", "error"),
        ("import made.net\nmade.net.normalize(x, p)", "error"),  # may be installed under another name
        ("import torch\ntorch = net\ntorch.normalize(x, p)", "error"),
    ],
)
def test_a_call_of_a_librarys_function_is_none_of_its_namesake(
    tmp_path: Path, call: str, expected: str
) -> None:
    run = f"import torch\nfrom net import Block\nx = torch.ones(2)\nBlock()(x)\n{call}\n"
    write({"net.py": NORMED, "run.py": run}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f.severity for f in engine.check([tmp_path], options).findings if f.filename.endswith("net.py")]
    assert found == [expected]
