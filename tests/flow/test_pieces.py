"""Kept results for statements give the same summary as a new module does."""

from __future__ import annotations

import pytest

from xlamig.flow import Summary, summary_of
from xlamig.flow.model import uses
from xlamig.flow.model.pieces import Pieces
from xlamig.syntax import module_from_text

BEFORE = '''\
import torch
from tools import run as start

REGISTRY = {}


@register(name="net")
class Net(torch.nn.Module):
    """A class that is long enough to be kept: it has a docstring, a constructor and a forward pass."""

    def __init__(self, size=3, use_cache=False):
        super().__init__()
        self.size = size
        self.use_cache = use_cache

    def forward(self, x):
        if self.use_cache:
            return start(x, fast=True)
        return getattr(torch, "relu")(x)


def add(item, registry=REGISTRY):
    """Add an item to the registry, which is a function that is long enough to be kept as well."""
    count = 1
    registry[item.name] = item
    REGISTRY[item.name] = item
    return start(item, fast=False, slow=count, option=settings.option, other=settings["other"])
'''
EDITS = {
    "a line is inserted above": ("import torch\n", "import os\nimport torch\n"),
    "a body changes": ("count = 1", "count = torch.ones(2)"),
    "a decorator changes": ('name="net"', 'name="other"'),
    "an import means another function": ("from tools import run", "from other import walk"),
    "an import becomes a value": ("from tools import run as start", "start = print"),
    "a function takes the name of an import": ("REGISTRY = {}", "def start(): pass"),
    "a function binds a name of the module": (
        "    count = 1",
        "    global start\n    start = use_cache = True",
    ),
    "a statement is doubled": ("REGISTRY = {}", "REGISTRY = {}\nREGISTRY = {}"),
    "a method goes": ("    def forward(self, x):\n", "    def backward(self, x):\n"),
}


def summarize(text: str, pieces: Pieces | None = None) -> Summary:
    return summary_of(module_from_text(text), text, "app", False, pieces)


@pytest.mark.parametrize(("old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_gives_the_summary_of_the_edited_text(old: str, new: str) -> None:
    assert old in BEFORE
    pieces, after = Pieces(), BEFORE.replace(old, new)
    for text in (BEFORE, after, BEFORE, after):
        assert summarize(text, pieces) == summarize(text)


def test_an_unchanged_statement_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = Pieces()
    summarize(BEFORE, pieces)
    read = []
    monkeypatch.setattr(uses, "path_of", lambda node: read.append(node) or "")
    kept = BEFORE.replace("count = 1", "count = 2")
    summarize(kept, pieces)
    changed = len(read)
    summarize(kept, Pieces())
    assert changed < len(read) - changed
