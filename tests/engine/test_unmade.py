"""Classes that no object is made of, because their constructors always raise."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SAMPLERS = """import sys
import torch
class Sampler:
    def __init__(self, steps=2):
        {constructor}
    {decorator}
    def run(self, x):
        return x.cuda()
{more}
"""
RUN = """import torch
import samplers
def main(name=""):
    sampler = {made}
    sampler.run(torch.ones(2))
if __name__ == "__main__":
    main()
"""


def reported(
    folder: Path, constructor: str, made: str = "samplers.Sampler()", decorator: str = "", more: str = ""
) -> int:
    text = SAMPLERS.format(constructor=constructor, decorator=decorator, more=more)
    write({"samplers.py": text, "run.py": RUN.format(made=made)}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return len(engine.check([folder], options).findings)


@pytest.mark.parametrize(
    "constructor",
    [
        'raise RuntimeError("was removed")',
        "super().__init__()\n        self.steps = steps\n        raise NotImplementedError",
        'sys.exit("needs the new checkpoint")',
    ],
)
def test_counts_a_class_as_unused_that_cannot_be_made(tmp_path: Path, constructor: str) -> None:
    assert reported(tmp_path, constructor) == 0


@pytest.mark.parametrize(
    "constructor",
    [
        "self.steps = steps",
        "if steps > 3:\n            raise ValueError(steps)",
        "if steps < 3:\n            return\n        raise ValueError(steps)",
    ],
)
def test_reports_a_class_that_can_be_made(tmp_path: Path, constructor: str) -> None:
    assert reported(tmp_path, constructor) == 1


def test_reports_a_class_that_another_derives_from(tmp_path: Path) -> None:
    more = "class Fast(Sampler):\n    def __init__(self):\n        self.steps = 1\n"
    assert reported(tmp_path, "raise NotImplementedError", "samplers.Fast()", more=more) == 1


@pytest.mark.parametrize("decorator", ["@staticmethod", "@classmethod"])
def test_reports_a_class_with_a_method_that_needs_no_object(tmp_path: Path, decorator: str) -> None:
    assert reported(tmp_path, "raise NotImplementedError", "samplers.Sampler", decorator) == 1


def test_reports_what_else_uses_the_same_function(tmp_path: Path) -> None:
    more = "def move(x):\n    return x.cuda()\n"
    made = "samplers.Sampler() if name else samplers.move(torch.ones(2))"
    assert reported(tmp_path, "raise NotImplementedError", made, more=more) == 1
