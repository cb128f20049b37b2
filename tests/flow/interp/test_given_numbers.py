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


HANDED_ON = """
def mask(lengths, n=None):
    if n is None:
        n = lengths.max()
    return torch.arange(0, n) < lengths.unsqueeze(1)

def train(loader, PARAMETER):
    for x in loader:
        LINE
"""


@pytest.mark.parametrize("parameter", ["n=8", "n: int = None", "n: Optional[int] = 8"])
def test_reads_the_length_where_a_parameter_may_be_none(parameter: str) -> None:
    line = 'mask(x.long().to("xla"), n)'
    assert said(HANDED_ON.replace("LINE", line).replace("PARAMETER", parameter), "dynamic-shape")


@pytest.mark.parametrize("parameter", ["n: int", "n: int = 8"])
def test_reads_no_length_where_an_annotation_says_that_it_is_a_number(parameter: str) -> None:
    line = 'mask(x.long().to("xla"), n)'
    assert not said(HANDED_ON.replace("LINE", line).replace("PARAMETER", parameter), "dynamic-shape")


def test_a_parameter_that_is_set_again_may_be_none() -> None:
    line = 'n = None if x.dim() else n; mask(x.long().to("xla"), n)'
    assert said(HANDED_ON.replace("LINE", line).replace("PARAMETER", "n: int"), "dynamic-shape")


def test_a_number_is_handed_on_twice() -> None:
    between = "def between(lengths, n=None):\n    return mask(lengths, n)\n"
    text = HANDED_ON.replace("def train", f"{between}\ndef train").replace("PARAMETER", "size")
    assert not said(text.replace("LINE", 'between(x.long().to("xla"), x.size(1))'), "dynamic-shape")
    assert said(text.replace("LINE", 'between(x.long().to("xla"), size)'), "dynamic-shape")
