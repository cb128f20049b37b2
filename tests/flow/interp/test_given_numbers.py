"""`if n is None` in a function whose caller computes a number for `n`."""

from __future__ import annotations

import pytest

from .said import said

MASK = """
def mask(lengths, n=None, *rest, m=None):
    if n is None:
        n = lengths.max()
    if m is None:
        m = 3
    return torch.arange(0, n) < lengths.unsqueeze(1)

def train(loader, size=None):
    for x in loader:
        lengths = x.long().to("xla")
        LINE
"""


def sizes(line: str) -> list[str]:
    return said(MASK.replace("LINE", line), "dynamic-shape")


@pytest.mark.parametrize(
    "call", ["mask(lengths)", "mask(lengths, None)", "mask(lengths, size)", "mask(lengths, m=x.size(0))"]
)
def test_reads_the_length_that_a_call_leaves_out(call: str) -> None:
    assert sizes(call)


@pytest.mark.parametrize(
    "call", ["mask(lengths, x.size(1))", "mask(lengths, n=len(x))", "mask(lengths, n=x.shape[1] + 1)"]
)
def test_reads_no_length_where_the_call_gives_one(call: str) -> None:
    assert not sizes(call)
