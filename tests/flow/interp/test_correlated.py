"""Tests that an `if` excludes what the other branch of an earlier `if` left."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import in_step

LEFT = """
other = time.chosen(batch.name)
n = 0
if other is not None:
    n = loss * 2
"""

EXCLUDED = {
    "opposite": "if other is None: z = torch.arange(int(n))",
    "negated": "if not (other is not None): z = torch.arange(int(n))",
    "else": "if other is not None: pass\nelse: z = torch.arange(int(n))",
    "equal to None": "if other == None: z = torch.arange(int(n))",
    "one more test": "if other is None and i > 2: z = torch.arange(int(n))",
    "second time": "if other is None: z = 1\nif other is None: z = torch.arange(int(n))",
    "assigned there": "if other is None: other = torch.arange(int(n))",
    "expression": "z = int(n) if other is None else 0",
}
READ = {
    "same test": "if other is not None: z = torch.arange(int(n))",
    "truth of the same name": "if other: z = torch.arange(int(n))",
    "no test": "z = torch.arange(int(n))",
    "another name": "if i is None: z = torch.arange(int(n))",
    "one of two": "if other is None or i > 2: z = torch.arange(int(n))",
    "assigned since": "if other is not None: pass\nother = None if i else 1\nif other is None: z = int(n)",
    "value assigned since": "n = loss * 3\nif other is None: z = torch.arange(int(n))",
    "assigned in a loop": "for k in range(3):\n    if other is None: z = int(n)\n    other = next(batch)",
    "loop variable": "for other in (None, 1):\n    if other is None: z = torch.arange(int(n))",
}


@pytest.mark.parametrize("case", EXCLUDED)
def test_a_read_in_a_branch_that_excludes_the_tensor_is_silent(case: str) -> None:
    assert not in_step(LEFT + EXCLUDED[case], "host-read")


@pytest.mark.parametrize("case", READ)
def test_a_read_where_the_tensor_may_be_left_is_reported(case: str) -> None:
    assert in_step(LEFT + READ[case], "host-read")


def test_the_branches_of_an_elif_are_told_apart() -> None:
    chain = """
    other, second = time.chosen(i), time.chosen(2)
    n = 0
    if other is not None:
        n = loss * 2
    elif second is not None:
        n = loss * 3
    """
    assert in_step(chain + "if other is None: z = int(n)", "host-read")
    assert not in_step(chain + "if other is None and second is None: z = int(n)", "host-read")


def test_a_choice_of_an_earlier_iteration_is_forgotten() -> None:
    body = """
    n = 0
    for choice in (None, 1, 2):
        if choice is None: z = int(n)
        if choice is not None: n = loss * 2
        else: n = 0
    """
    assert in_step(body, "host-read")
