"""Moves below a test of CUDA are repeated in the other branch, under the conditions that they had."""

from __future__ import annotations

import difflib
import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import sys
import torch
from torch import nn

model, loss = nn.Linear(4, 4), nn.MSELoss()
parts = [model, loss]
kind = sys.argv[1]
"""


def added(code: str) -> str:
    """The lines that the safe fix adds, as they are indented."""
    source = HEAD + textwrap.dedent(code)
    options = engine.Options(
        {"select": ["XLA003"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    lines = difflib.ndiff(source.splitlines(), outcome.stdin.text.splitlines())
    new = [line[2:] for line in lines if line.startswith("+ ")]
    return "\n".join(line for line in new if line != "from xla_compat import default_device")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (  # what the other kind of data does not have
            """
            x = torch.ones(4)
            if kind == "pairs":
                other = torch.zeros(4)
            if torch.cuda.is_available():
                x = x.cuda()
                torch.backends.cudnn.benchmark = True
                if kind == "pairs":
                    other = other.cuda()
            """,
            """
            else:
                x = x.to(default_device())
                if kind == "pairs":
                    other = other.to(default_device())
            """,
        ),
        (
            """
            if torch.cuda.is_available():
                torch.backends.cudnn.benchmark = True
                if kind == "pairs":
                    model.cuda()
                else:
                    loss.cuda()
            """,
            """
            else:
                if kind == "pairs":
                    model.to(default_device())
                else:
                    loss.to(default_device())
            """,
        ),
        (
            """
            if torch.cuda.is_available():
                torch.backends.cudnn.benchmark = True
                if kind == "pairs":
                    print(kind)
                elif kind:
                    loss.cuda()
            """,
            """
            else:
                if kind == "pairs":
                    pass
                else:
                    if kind:
                        loss.to(default_device())
            """,
        ),
        (
            """
            if torch.cuda.is_available():
                torch.backends.cudnn.benchmark = True
                loss.cuda()
                for part in parts:
                    part.cuda()
            """,
            """
            else:
                loss.to(default_device())
                for part in parts:
                    part.to(default_device())
            """,
        ),
        (  # how many GPUs there are decides what is moved, not whether
            """
            if torch.cuda.is_available():
                if torch.cuda.device_count() > 1:
                    model = nn.DataParallel(model).cuda()
                else:
                    model = model.cuda()
            """,
            """
            else:
                model = model.to(default_device())
            """,
        ),
        (
            """
            if torch.cuda.is_available():
                model = nn.DataParallel(model)
                model = model.cuda()
            """,
            """
            else:
                model = model.to(default_device())
            """,
        ),
    ],
)
def test_moves_keep_their_conditions(code: str, expected: str) -> None:
    assert added(code) == textwrap.dedent(expected).strip("\n")


@pytest.mark.parametrize(
    "code",
    [
        # the condition is known on CUDA alone
        """
        if torch.cuda.is_available():
            wide = kind == "pairs"
            print(torch.cuda.device_count())
            if wide:
                model.cuda()
        """,
        # what is moved exists on CUDA alone
        """
        if torch.cuda.is_available():
            extra = nn.Linear(4, 4)
            extra.cuda()
        """,
        """
        if torch.cuda.is_available():
            torch.backends.cudnn.benchmark = True
            while parts:
                parts.pop().cuda()
                model.cuda()
        """,
        """
        if torch.cuda.is_available():
            torch.backends.cudnn.benchmark = True
            for part in [nn.Linear(4, 4).cuda()]:
                part.cuda()
        """,
    ],
)
def test_other_code_stays(code: str) -> None:
    assert added(code) == ""
