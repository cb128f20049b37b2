"""The answers of `xlamig ops` about random operators hold on real torch_xla."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pool import Pool, Request

pytestmark = pytest.mark.evidence

TOOL = Path(__file__).parents[2] / "tools" / "check_operators.py"
COUNT = 10  # in one program, which has three minutes


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_operators_do_what_is_said(pool: Pool, seed: int) -> None:
    request = Request(TOOL, args=("--count", str(COUNT), "--seed", str(seed), "--at-least", "90"))
    outcome = pool.outcome(request)
    if outcome["crashed"] or outcome["attempts"][0]["error"]:
        pytest.fail(f"{outcome['crashed']}\n{outcome['output']}", pytrace=False)
