"""Which boundary is the step loop, what a step costs, how often something happens."""

from __future__ import annotations

import pytest

from xlamig.observations import Cost
from xlamig.observe.steps import Boundary, Steps


def loop(count: int, place: int = 0, depth: int = 2) -> list[Boundary]:
    """One execution per step; the first two also compile."""
    return [[place, depth, min(i + 1, 2), i + 1, 0] for i in range(count)]


def test_a_program_without_boundaries_has_no_steps() -> None:
    steps = Steps([])
    assert (steps.place, steps.count, steps.steady) == (None, 0, None)


def test_too_few_steps_have_no_steady_state() -> None:
    assert Steps(loop(3)).steady is None


def test_the_steady_state_leaves_out_what_the_first_steps_compile() -> None:
    steps = Steps(loop(8))
    assert steps.costs[0] == Cost(1, 1, 0)
    assert steps.steady == Cost(0, 1, 0)


def test_the_step_loop_is_where_most_boundaries_are() -> None:
    assert Steps([[1, 2, 1, 1, 0], *loop(5), [1, 2, 2, 7, 0]]).place == 0


def test_of_two_boundaries_in_a_loop_the_outer_one_ends_the_step() -> None:
    inner_first = [
        boundary for i in range(4) for boundary in ([0, 5, 0, 2 * i + 1, 0], [1, 2, 0, 2 * i + 2, 0])
    ]
    steps = Steps(inner_first)
    assert steps.place == 1
    assert steps.costs[1:] == [Cost(0, 2, 0)] * 3


@pytest.mark.parametrize(
    ("seen", "frequency"),
    [
        ([0], "once"),
        ([7], "once"),
        ([0, 1], "warm-up"),
        ([0, 3, 6, 9], "interval"),
        ([5, 6, 7, 8, 9], "step"),
        (list(range(10)), "step"),
    ],
)
def test_frequency(seen: list[int], frequency: str) -> None:
    assert Steps(loop(10)).frequency(seen) == frequency


def test_an_event_between_boundaries_belongs_to_the_step_that_ends_next() -> None:
    boundaries = [[0, 5, 0, 1, 0], [1, 2, 0, 2, 0], [0, 5, 0, 3, 0], [1, 2, 0, 4, 0]]
    steps = Steps(boundaries)
    assert steps.of([[0, 1]]) == [0]
    assert steps.of([[2, 2]]) == [1]
