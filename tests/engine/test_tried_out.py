"""Code that only tries out a module when that is run: what it costs a device, where it chooses none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from xlamig import engine
from xlamig.engine.switches import is_tried_out

NET = """
import torch
from torch import nn
from blocks import make

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = make(8)
    def forward(self, x, state):
        y = self.layer(x + state)
        return y, y * 2

if __name__ == "__main__":
    net = Net()
    x, state = torch.rand(1, 8), torch.zeros(1, 8)
    MOVE
    with torch.no_grad():
        for _ in range(10):
            y, state = net(x, state)
    DONE
"""
TRAIN = "from net import Net\nmodel = Net().cuda()\n"


@pytest.mark.parametrize(
    ("move", "done", "listed"),
    [
        ("pass", "print(y.shape)", []),
        ("net, x, state = net.cuda(), x.cuda(), state.cuda()", "print(y.shape)", ["XLA402"]),
        ("pass", "y.sum().backward()  # a step of train(net)", []),
        ("net.train()", "print(y.shape)", []),
        ("net.train(False)", "print(y.shape)", []),
        ("pass", "torch.load('net.pt', map_location=torch.device('cuda'))", ["XLA402"]),
    ],
)
def test_a_try_out_on_the_host_asks_for_nothing(
    tmp_path: Path, move: str, done: str, listed: list[str]
) -> None:
    text = dedent(NET).replace("MOVE", move).replace("DONE", done)
    (tmp_path / "net.py").write_text(text)
    (tmp_path / "train.py").write_text(TRAIN)
    result = engine.check([tmp_path], engine.Options(overrides={}, isolated=True))
    found = [finding for finding in result.findings if finding.code == "XLA402"]
    assert [finding.code for finding in found] == listed
    assert all(finding.severity == "info" for finding in found)
    every = engine.check([tmp_path], engine.Options(overrides={"include-no-action": True}, isolated=True))
    (kept,) = (finding for finding in every.findings if finding.code == "XLA402")
    assert (kept.help == "Leave it: nothing moves to a device here") is (not listed)


DATA = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Photos(Dataset):
    def __getitem__(self, i):
        return torch.ones(3)
    def __len__(self):
        return 9

if __name__ == "__main__":
    OPTIONS
    loader = DataLoader(Photos(), batch_size=4, shuffle=True)
    for i, batch in enumerate(loader):
        USE
"""
EMPTY = (
    "import argparse\n    parser = argparse.ArgumentParser()\n    args = parser.parse_args()\n    args.n = 9"
)
OPTIONS = EMPTY.replace("()\n    args =", "()\n    parser.add_argument('--root')\n    args =")


def partial_batches(folder: Path, options: str, use: str, head: str = "") -> list[str]:
    """Return the findings on the loader of a module with a dataset."""
    (folder / "data.py").write_text(head + dedent(DATA).replace("OPTIONS", options).replace("USE", use))
    (folder / "train.py").write_text("from data import Photos\nx = Photos()[0].cuda()\n")
    result = engine.check([folder], engine.Options(overrides={"select": ["XLA9"]}, isolated=True))
    return [f.code for f in result.findings if not f.no_action]


@pytest.mark.parametrize("options", ["pass", EMPTY, OPTIONS], ids=["none", "empty", "some"])
@pytest.mark.parametrize("use", ["print(batch.numpy())", "plt.imshow(batch[0].numpy())"])
def test_a_look_at_a_dataset_compiles_nothing(tmp_path: Path, options: str, use: str) -> None:
    assert partial_batches(tmp_path, options, use) == []


@pytest.mark.parametrize(
    ("options", "use", "head"),
    [
        ("pass", "train(batch)", ""),
        (EMPTY, "main(batch)", ""),
        (OPTIONS, "model(batch)", ""),
        (OPTIONS, "net(batch).mean()", ""),
        (OPTIONS, "print(batch.to(device))", "device = torch.device('cuda')\n"),
        (OPTIONS, "print(batch.cuda())", ""),
        (f"{OPTIONS}\n    run(args)", "print(batch)", ""),
    ],
)
def test_a_loop_that_computes_does(tmp_path: Path, options: str, use: str, head: str) -> None:
    assert partial_batches(tmp_path, options, use, head) == ["XLA901"]


@pytest.mark.parametrize(
    ("block", "tried"),
    [
        ("net = Net()\n    net.train()\n    print(net(torch.ones(2)))", True),
        ("net.train(True)\n    net(1)", True),
        ("net.train()\n    print(net)", False),  # may be a trainer
        ("trainer = Trainer(Net())\n    trainer.train()", False),
        ("net.train(data)\n    net(1)", False),
        ("net.train()\n    train(net(1))", False),
    ],
)
def test_a_module_that_sets_a_mode_only_tries_itself_out(block: str, tried: bool) -> None:
    assert is_tried_out(f'import torch\nif __name__ == "__main__":\n    {block}\n', True) is tried


SELF_TEST = """net = Net()
    x = torch.randn(2, 8)
    print(test_mode(net, x))"""


@pytest.mark.parametrize(
    ("more", "tried"),
    [
        ("pass", True),
        ("for mode in range(5): test_mode(net, x, mode)", True),
        ("test(net, x)", False),
        ("net.load_state_dict(torch.load('net.pt'))", False),
        ("torch.save(test_mode(net, x), 'x.pt')", False),
    ],
)
def test_tests_on_made_up_inputs_only_try_a_module_out(more: str, tried: bool) -> None:
    text = f'import torch\nif __name__ == "__main__":\n    {SELF_TEST}\n    {more}\n'
    assert is_tried_out(text, True) is tried
    assert is_tried_out(text, False) is False
    given = text.replace("torch.randn(2, 8)", "Photos()")
    assert is_tried_out(given, True) is False


AUGMENT = """
import torch
def gray(x):
    torch.cuda.synchronize()
    return x
if __name__ == "__main__":
    gray(torch.rand(3))
"""


@pytest.mark.parametrize(
    ("train", "tried_out"),
    [
        ("import augment as a\nMAKERS = {'gray': a.gray}\n", False),
        ("from augment import gray\ndef makers(): return [gray]\n", False),
        ("import augment as a\nMAKERS = {a.gray.__name__: 'gray'}\n", True),
        ("import augment as a\nNAMES = ['gray']\n", True),
    ],
)
def test_a_function_that_another_module_holds_is_not_only_tried_out(
    tmp_path: Path, train: str, tried_out: bool
) -> None:
    (tmp_path / "augment.py").write_text(AUGMENT)
    call = "def run(x, name):\n    return MAKERS[name](x)\n"
    (tmp_path / "train.py").write_text(f"import torch\n{train}{call}run(torch.rand(3), 'gray')\n")
    result = engine.check([tmp_path], engine.Options({"select": ["XLA005"]}, isolated=True))
    (finding,) = result.findings
    assert ("__main__" in finding.message) is tried_out
