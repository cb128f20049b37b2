"""Tests of running sums: of Booleans, and those that are only compared with none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

NAMES = frozenset({"torch.cumsum", "Tensor.cumsum", "unknown.cumsum"})
SIGNATURES = dict.fromkeys(NAMES, ("input", "dim"))


def asks_for_any(line: str) -> bool:
    return "asks-for-any" in proofs_of(line)


def proofs_of(line: str) -> set[str]:
    text = f"import torch\ndef f(x: torch.Tensor):\n    mask = x > 0\n    {line}\n"
    interest = replace(INTEREST, names=NAMES, methods=frozenset({"cumsum"}), signatures=SIGNATURES)
    (use,) = (use for use in facts_in(text, ApiUse, interest=interest) if use.name in NAMES)
    return set(use.proofs)


@pytest.mark.parametrize(
    "line",
    [
        "return (torch.cumsum(mask, 1)[:, -1] >= 1).all()",
        "if (mask.cumsum(1) > 0).all(): return x",
        "done = mask.cumsum(1)[:, -1] != 0",
        "return mask.cumsum(1).bool()",
    ],
)
def test_a_sum_that_is_compared_with_none_asks_for_any(line: str) -> None:
    assert asks_for_any(line)


@pytest.mark.parametrize(
    "line",
    [
        "return mask.cumsum(1)",
        "return mask.cumsum(1) >= 2",
        "return mask.cumsum(1) == 1",
        "return mask.cumsum(1) >= x",
        "return x >= mask.cumsum(1)[:, -1]",
        "return x[mask.cumsum(1)] >= 1",
        "return mask.cumsum(1) * 2 > 0",
    ],
)
def test_a_sum_that_is_used_as_a_number_does_not(line: str) -> None:
    assert not asks_for_any(line)


@pytest.mark.parametrize(
    ("line", "subtracted"),
    [
        ("return mask.cumsum(1) * x - 1", False),
        ("return x.sub_(mask.sum(1), alpha=2) + mask.cumsum(1)", False),
        ("return mask.cumsum(1) - 1", True),
        ("return 3 - mask.cumsum(1)[:, -1]", True),
        ("return x.sub_(torch.cumsum(mask, 1))", True),
    ],
)
def test_a_sum_that_is_an_operand_of_a_subtraction_is_subtracted(line: str, subtracted: bool) -> None:
    assert ("subtracted" in proofs_of(line)) is subtracted


@pytest.mark.parametrize("summed", ["x.exp().logical_not_()", "x.exp().gt_(0)", "x.exp().new_zeros(3)"])
def test_methods_that_keep_the_type_of_a_number_make_no_boolean(summed: str) -> None:
    assert not proofs_of(f"return ({summed}).cumsum(1)") & {"boolean"}


@pytest.mark.parametrize(
    "summed", ["mask.logical_not_()", "mask.eq_(x)", "mask.new_zeros(3)", "x.exp().gt(0)"]
)
def test_methods_that_keep_or_make_a_boolean_are_known(summed: str) -> None:
    assert proofs_of(f"return ({summed}).cumsum(1)") >= {"boolean"}
