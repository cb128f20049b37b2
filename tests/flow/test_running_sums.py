"""Tests of running sums that are only compared with none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

NAMES = frozenset({"torch.cumsum", "Tensor.cumsum", "unknown.cumsum"})
SIGNATURES = dict.fromkeys(NAMES, ("input", "dim"))


def asks_for_any(line: str) -> bool:
    text = f"import torch\ndef f(x):\n    mask = x > 0\n    {line}\n"
    interest = replace(INTEREST, names=NAMES, methods=frozenset({"cumsum"}), signatures=SIGNATURES)
    (use,) = (use for use in facts_in(text, ApiUse, interest=interest) if use.name in NAMES)
    return "asks-for-any" in use.proofs


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
