"""An argument of the call decides which replacement computes the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

LOOP = """import torch
import torch_xla

def train(model, edges, x, flag):
    for step in range(10):
        torch.searchsorted({arguments})
        model(x).backward()
        torch_xla.sync()
"""


def help_of(arguments: str) -> str:
    """Return the help of a call of `searchsorted` with these arguments."""
    text = LOOP.format(arguments=arguments).encode()
    options = engine.Options({"select": ["XLA501"]}, isolated=True, stdin=("train.py", text))
    (finding,) = engine.check([Path("train.py")], options).findings
    return finding.help or ""


@pytest.mark.parametrize("option", ["", ", right=False", ', side="left"', ", out_int32=True"])
def test_counts_what_is_smaller_where_the_left_end_is_asked(option: str) -> None:
    assert help_of(f"edges, x{option}").startswith("Use `(sequence.unsqueeze(-2) < x.unsqueeze(-1))")


@pytest.mark.parametrize("option", [", right=True", ', side="right"', ", right=flag"])
def test_counts_equal_ones_where_the_right_end_is_asked(option: str) -> None:
    text = help_of(f"edges, x{option}")
    assert text.startswith("Use `(sequence.unsqueeze(-2) <= x.unsqueeze(-1))")
    assert "`<` without it" in text
