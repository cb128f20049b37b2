"""Code that nothing runs, after what leaves its block."""

from __future__ import annotations

import pytest
from reading import guards

HERE = "torch.cuda.synchronize()"


def kinds(source: str) -> list[str]:
    return guards(f"import sys, torch\n{source}\n")


@pytest.mark.parametrize(
    "source",
    [
        f"def f(x):\n if x:\n  return\n {HERE}",
        f"def f(x):\n for y in x:\n  if y:\n   break\n  {HERE}",
        f"def f(x):\n try:\n  return g(x)\n except KeyError:\n  {HERE}",
        f"def f(x):\n def g():\n  return x\n {HERE}",
        f"def f(x):\n exit = x\n x.exit()\n {HERE}",
        f"sys.exit()\n{HERE}",  # the cells of a notebook
        f"def f(x):\n pass\n {HERE}",
    ],
)
def test_code_that_may_follow_has_no_guard(source: str) -> None:
    assert kinds(source) == [""]


@pytest.mark.parametrize("leaves", ["exit()", "sys.exit(1)", "raise ValueError", "return 1", "assert False"])
def test_code_after_what_leaves_never_runs(leaves: str) -> None:
    assert kinds(f"def f(x):\n {leaves}\n {HERE}") == ["never"]
    assert kinds(f"def f(x):\n if x:\n  {leaves}\n  {HERE}") == ["never"]
