"""`.cuda()` of a class of the project becomes `.to(device)` only where that class has such a method."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

PROGRAM = """import torch

class Batch(BASE):
    def __init__(self, x):
        self.x = x

    def cuda(self):
        self.x = self.x.cuda()
        return self

METHODS
def prepare(batch, loader):
    if torch.cuda.is_available():
        batch.cuda()
    return batch
"""
TO = "    def to(self, device):\n        self.x = self.x.to(device)\n        return self\n"


def is_written(base: str, methods: str) -> bool:
    source = PROGRAM.replace("BASE", base).replace("METHODS", methods)
    options = engine.Options(
        {"select": ["XLA003"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None
    return "batch.to(" in outcome.stdin.text


def test_a_class_without_to_keeps_its_move() -> None:
    assert not is_written("", "")
    assert not is_written("object", "")


@pytest.mark.parametrize(("base", "methods"), [("", TO), ("torch.nn.Module", "")])
def test_a_class_with_to_is_moved(base: str, methods: str) -> None:
    assert is_written(base, methods)
