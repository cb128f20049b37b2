"""Numbers as reports print them."""

from __future__ import annotations

import pytest

from xlamig.report.numbers import percentages


@pytest.mark.parametrize(
    ("parts", "shares"),
    [
        ([56, 15, 4, 10], ["66%", "17%", "5%", "12%"]),
        ([1, 1, 1], ["34%", "33%", "33%"]),
        ([1000, 1], [">99%", "<1%"]),
        ([5], ["100%"]),
    ],
)
def test_percentages_add_up(parts: list[int], shares: list[str]) -> None:
    assert percentages(parts) == shares
