"""Lists of lists of tokens, by annotation and name: each has a length of its own."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
from typing import List, Sequence
def answer(prompts: HINT, boxes: List[List[int]], model: nn.Module, count: int):
    lengths = [len(p) for p in prompts]
    return model(MADE)
"""


def shapes(made: str, hint: str = "List[List[int]]") -> list[str]:
    return said(PROGRAM.replace("HINT", hint).replace("MADE", made), "changing-shape")


@pytest.mark.parametrize(
    "made",
    [
        "torch.tensor(boxes).to('cuda')",
        "torch.zeros(len(boxes), 4).to('cuda')",
        "torch.zeros(count, 64).to('cuda')",
        "torch.tensor(sum(boxes, [])).to('cuda')",
        "torch.zeros(count, max(lengths))",
    ],
)
def test_other_lists_have_one_shape(made: str) -> None:
    assert shapes(made) == []


def test_a_list_of_tokens_is_no_list_of_lists() -> None:
    assert shapes("torch.tensor(prompts).to('cuda')", "List[int]") == []


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros(count, max(lengths)).to('cuda')",
        "torch.zeros(count, max(lengths) + 20).to('cuda')",
        "torch.tensor(prompts).to('cuda')",
        "torch.tensor(prompts[0]).to('cuda')",
        "torch.tensor(sum(prompts, [])).to('cuda')",
        "torch.tensor(sum(prompts, []), device='cuda')",
    ],
)
@pytest.mark.parametrize("hint", ["List[List[int]]", "Sequence[list[int]]"])
def test_each_request_has_its_own_shape(made: str, hint: str) -> None:
    assert len(shapes(made, hint)) == 1
