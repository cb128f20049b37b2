"""Values that a branch gives to a name while an option keeps it off."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, grows=False):
        super().__init__()
        self.grows = grows
        self.count = 0
        self.most = width
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        BODY
        return x.repeat(n) + self.scale.sum()
"""
TRAIN = """\
import torch
from net import Net


def main():
    model = Net(MADE).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
BRANCHES = {
    "statement": "if self.grows:\n            self.count += 1\n            n = 1 + self.count\n"
    "        else:\n            n = self.most",
    "other branch": "if not self.grows:\n            n = self.most\n        else:\n"
    "            self.count += 1\n            n = 1 + self.count",
    "before": "n = self.most\n        if self.grows:\n            n = self.count\n        self.count += 1",
    "expression": "self.count += 1\n        n = self.count if self.grows else self.most",
}


def reported(tmp_path: Path, body: str, made: str) -> set[str]:
    (tmp_path / "net.py").write_text(NET.replace("BODY", body))
    (tmp_path / "train.py").write_text(TRAIN.replace("MADE", made))
    options = engine.Options({"select": ["XLA304"]}, isolated=True, jobs=1, cache=False)
    return {finding.severity for finding in engine.check([tmp_path], options).findings}


@pytest.mark.parametrize("body", BRANCHES.values(), ids=BRANCHES)
def test_a_value_that_only_an_option_makes_reaches_nothing_while_it_is_off(tmp_path: Path, body: str) -> None:
    assert reported(tmp_path, body, "4") == set()
    assert reported(tmp_path, body, "4, grows=False") == set()


@pytest.mark.parametrize("made", ["4, grows=True", "4, args.grows"])
@pytest.mark.parametrize("body", BRANCHES.values(), ids=BRANCHES)
def test_a_value_of_an_option_that_may_be_on_counts(tmp_path: Path, body: str, made: str) -> None:
    assert reported(tmp_path, body, made) == {"warning"}


def test_what_follows_a_branch_that_always_returns_is_analysed(tmp_path: Path) -> None:
    body = "if not self.grows:\n            return x\n        self.count += 1\n        n = self.count"
    assert reported(tmp_path, body, "4") == {"info"}


LAYERS = """\
import torch
class Block(torch.nn.Module):
    def __init__(self, norm="gn"):
        super().__init__()
        self.conv = torch.nn.Conv1d(3, 3, 1)
        if norm == "wn":
            self.conv = torch.nn.utils.weight_norm(self.conv)
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return self.act(self.conv(x))
"""
INFER = """\
import torch
from net import Block
class Infer:
    def __init__(self, device=None):
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.last = self.build()

    def build(self):
        self.net = Block(MADE).to(self.device)
        return torch.nn.Linear(3, 3).to(self.device)

    def infer(self, x):
        with torch.no_grad():
            return self.net(self.last(x.to(self.device))).cpu().numpy()


if __name__ == "__main__":
    print(Infer().infer(torch.ones(3)))
"""


@pytest.mark.parametrize(
    ("made", "expected"), [("", {7: "info"}), ("'gn'", {7: "info"}), ("'wn'", {7: "warning", 11: "warning"})]
)
def test_an_object_holds_nothing_that_an_option_keeps_off(
    tmp_path: Path, made: str, expected: dict[int, str]
) -> None:
    (tmp_path / "net.py").write_text(LAYERS)
    (tmp_path / "infer.py").write_text(INFER.replace("MADE", made))
    options = engine.Options({"select": ["XLA501"]}, isolated=True, jobs=1, cache=False)
    found = [place for one in engine.check([tmp_path], options).findings for place in one.places]
    assert {place.place.location.row: place.severity for place in found} == expected
