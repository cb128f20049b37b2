"""The proof that a program loads a file that it has written itself, with data of the host."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse

DATASET = """
from torch.utils.data import Dataset
class Photos(Dataset):
    def __init__(self, root, file):
        self.cache = root + '/cache'
        self.ids = torch.load(LOADED)
        self.pick([], LOADED)
    def pick(self, ids, file):
        kept = []
        for i in ids:
            kept.append(i)
            BODY
        torch.save(kept, SAVED)
"""
LOG = """
class Loss(torch.nn.Module):
    def __init__(self, args):
        self.log = torch.Tensor()
        self.parts = torch.nn.Linear(3, 3).cuda()
    def forward(self, x):
        y = self.parts(x)
        ADD
        return y
    def start(self):
        self.log = torch.cat((self.log, torch.zeros(1, 3)))
    def save(self, folder):
        torch.save(self.log, os.path.join(folder, 'log.pt'))
    def load(self, folder):
        self.log = torch.load(os.path.join(folder, NAME))
"""


def is_own(source: str) -> bool:
    uses = facts_in(f"import os, torch\n{source}", ApiUse)
    return all("own-file" in use.proofs for use in uses if use.name == "torch.load")


def dataset(loaded: str, saved: str, body: str = "pass") -> str:
    return DATASET.replace("LOADED", loaded).replace("SAVED", saved).replace("BODY", body)


def log(add: str, name: str = "'log.pt'") -> str:
    return LOG.replace("ADD", add).replace("NAME", name)


@pytest.mark.parametrize(
    "source",
    [
        dataset("file", "file"),  # which is passed on
        dataset("self.cache", "self.cache"),
        dataset("self.paths[0]", "self.paths[0]"),
        dataset("os.path.join(root, 'ids.pth')", "self.root + '/ids.pth'"),
        dataset("f'{root}/ids.pth'", "'{}/ids.pth'.format(self.root)"),
        dataset("file", "file", "i.label.to(torch.float32)"),
        log("self.log[-1, 0] += y.mean().item()"),
        "def cached(path):\n if exists(path):\n  return torch.load(path)\n torch.save([1, 2], path)\n",
        "torch.save({'mean': torch.zeros(3), 'n': 4}, '/a/stats.pt')\nx = torch.load('/b/stats.pt')\n",
        "name = '/a/stats.pt'\ntorch.save([0.5], name)\nx = torch.load('/a/stats.pt')\n",
    ],
)
def test_a_file_with_data_of_the_host(source: str) -> None:
    assert is_own(source)


@pytest.mark.parametrize(
    "source",
    [
        dataset("file", "file", "kept[-1] = i.cuda()"),
        dataset("file", "file", "kept[-1] = i.to(self.where)"),
        dataset("file", "file", "kept[-1] = self.encoder(i)"),
        dataset("file", "file", "kept[-1] = i.state_dict()"),
        dataset("file", "self.other"),
        dataset("file", "'ids.pth'"),
        dataset("'a/ids.pth'", "'a/labels.pth'"),
        dataset("self.cache", "self.root"),
        dataset("file", "file").replace("(Dataset)", "(Trainer)"),
        log("self.log = torch.cat((self.log, y))"),  # of the device
        log("self.log[-1, 0] += y.mean().item()", "'best.pt'"),
        "y = torch.load('a/x.pt')\ntorch.save([1, 2], 'a/x.pt')\ntorch.save(net, 'b/x.pt')\n",
        "y = torch.load('a/x.pt')\nx = torch.zeros(3).cuda()\ntorch.save(x, 'a/x.pt')\n",
        "def keep(path): torch.save([1], path)\ndef resume(path): return torch.load(path)\n",
        "x = torch.load('a/x.pt')\n",
        "torch.save([1], a + '.pt')\nx = torch.load(b + '.pt')\n",
    ],
)
def test_a_file_that_may_hold_tensors_of_the_device(source: str) -> None:
    assert not is_own(source)


BEST = """
def train(net, epochs, args, path):
    LOOP
        if net.better():
            SAVE
    LOAD
"""


TESTED = """
def test({best}):
    return torch.load({load})
def train(net, epochs, path):
    for epoch in range(epochs):
        if net.better():
            torch.save(net, {load})
    return test({best})
"""
RETURNED = """
class Trainer:
    def _fit(self, net, epochs):
        for epoch in range(epochs):
            if net.better():
                path = f'best_{{epoch}}.pt'
                torch.save(net.state_dict(), path)
        return {result}
    def run(self, net):
        best = self._fit(net, 3)
        net.load_state_dict(torch.load(best))
"""


def best(
    load: str, save: str = "torch.save(net.state_dict(), path)", loop: str = "for epoch in range(epochs):"
) -> str:
    return BEST.replace("LOOP", loop).replace("SAVE", save).replace("LOAD", load)


@pytest.mark.parametrize(
    "source",
    [
        best("x = torch.load(path)"),
        best("if args.test:\n        x = torch.load(path)"),
        best("x = torch.load(path)", loop="while epochs:"),
        best(
            "with open(args.save, 'rb') as f:\n        x = torch.load(f)",
            "with open(args.save, 'wb') as f:\n                torch.save(net, f)",
        ),
        "torch.save(net.state_dict(), 'a/net.pt')\nx = torch.load('a/net.pt')\n",
        TESTED.format(best="path", load="path"),
        TESTED.format(best="net, BEST", load="BEST"),
        RETURNED.format(result="path"),
    ],
)
def test_a_file_that_the_same_run_has_written(source: str) -> None:
    assert is_own(source)


@pytest.mark.parametrize(
    "source",
    [
        best("x = torch.load(args.resume)"),
        best("x = torch.load(path)", loop="if args.train:"),
        best("x = torch.load(path)", "torch.save(net, path + str(epoch))"),
        best("with open(args.load, 'rb') as f:\n        x = torch.load(f)", "torch.save(net, f)"),
        "def train(net, path):\n  x = torch.load(path)\n  for e in range(9):\n    torch.save(net, path)\n",
        "def keep(net, path):\n  torch.save(net, path)\ndef test(path):\n  return torch.load(path)\n",
        TESTED.format(best="path", load="path") + "test(input())\n",
        TESTED.format(best="net, BEST", load="BEST").replace("torch.save(net, BEST)", "pass"),
        RETURNED.format(result="self.path"),
        "def run(net, p):\n  if net:\n    torch.save(net, p)\n  else:\n    x = torch.load(p)\n",
    ],
)
def test_a_file_of_another_run(source: str) -> None:
    assert not is_own(source)
