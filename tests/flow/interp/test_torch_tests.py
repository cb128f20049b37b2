"""Branches for what torch lacks, or had once, do not run: their values and reads are none of a step."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import in_step


@pytest.mark.parametrize(
    "test",
    [
        "hasattr(F, 'scaled_dot_product_attention')",
        "torch.__version__ >= '2.0'",
        "not hasattr(torch, 'rfft')",
    ],
)
def test_what_torch_has_leaves_out_the_other_branch(test: str) -> None:
    assert not in_step(f"if {test}: loss = loss * 1\nelse: print(loss.item())")
    assert in_step(f"if {test}: print(loss.item())\nelse: loss = loss * 1") == ["host-read item: loss.item()"]


@pytest.mark.parametrize("test", ["hasattr(torch, 'npu')", "hasattr(extra, 'compile')"])
def test_a_test_that_may_have_both_outcomes_leaves_out_nothing(test: str) -> None:
    assert in_step(f"if {test}: loss = loss * 1\nelse: print(loss.item())")
