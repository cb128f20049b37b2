"""Tests that an `if` excludes what the other branch of an earlier `if` left."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import in_step, said

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


CARRIED = """
def train(model, optimizer, loader, rows, device, whole, flag):
    model = model.to("cuda")
    if whole:
        rows = rows.numpy()
    if whole:
        rows = torch.Tensor(rows).to("cuda")
    for i in range(1000):
        START
        if TEST:
            x = rows[i]
            if i % 100 == 0:
                rows = rows[torch.randperm(5)]
        else:
            x = torch.zeros(8).to("cuda")
        model(x).sum().backward()
        optimizer.step()

train(nn.Linear(8, 8), torch.optim.SGD([], lr=0.1), [], np.zeros(3), find(), find(), find())
"""


def carried(start: str, test: str) -> list[str]:
    return said(CARRIED.replace("START", start).replace("TEST", test), "changing-constant")


def test_what_a_branch_changes_in_each_iteration_stays_what_its_test_says() -> None:
    assert carried("pass", "whole")


@pytest.mark.parametrize(
    ("start", "test"), [("whole = flag > i", "whole"), ("pass", "flag"), ("pass", "not whole")]
)
def test_another_answer_or_test_leaves_it_open_what_the_value_is(start: str, test: str) -> None:
    assert not carried(start, test)
