"""Proofs about what an operator gets: views and equations that torch_xla does not compute."""

from __future__ import annotations

import pytest

from xlamig import ir
from xlamig.flow.interp.operand_checks import begins_behind_first, drops_a_diagonal
from xlamig.syntax import module_from_text


def _call(text: str) -> ir.Call:
    call = next(node for node in ir.walk(module_from_text(text).body[0]) if isinstance(node, ir.Call))
    assert isinstance(call, ir.Call)
    return call


@pytest.mark.parametrize(
    ("receiver", "behind"),
    [
        ("x", False), ("x[0]", False), ("x[:4]", False), ("x[0:4, :2]", False), ("x[..., 0]", False),
        ("x[None]", False), ("x[mask]", False), ("x[[1, 2]]", False), ("x.clone()", False),
        ("x[1]", True), ("x[-1]", True), ("x[i]", True), ("x[:, 1:]", True), ("x[0, i + 1]", True),
    ],
)  # fmt: skip
def test_view_begins_behind_the_first_element(receiver: str, behind: bool) -> None:
    assert begins_behind_first(_call(f"{receiver}.fill_diagonal_(0)"), {"i"}.__contains__) is behind


@pytest.mark.parametrize(
    ("equation", "drops"),
    [
        ("ij", False), ("ii->i", False), ("ii->", False), ("bii->b", False), ("ii,ij", False),
        ("ii", True), ("i i", True), ("iijj", True), ("i...i", True), (None, False), (3, False),
    ],
)  # fmt: skip
def test_equation_drops_a_diagonal(equation: object, drops: bool) -> None:
    assert drops_a_diagonal(equation) is drops
