"""Slices between random numbers: both ends move together, or each on its own."""

from __future__ import annotations

import pytest

from .said import STEP, facts

DRAW = "{0}, {1} = random.randint(0, 4), random.randint(4, 8)\n        z = x[:, {2}]"


@pytest.mark.parametrize(
    ("names", "part", "via"),
    [
        ("i size", "i:i + size", "slice"),
        ("i size", "i:size + i", "slice"),
        ("lo hi", "lo + 1:lo + 1 + hi", "slice"),
        ("lo hi", "lo:hi", "window"),
        ("i size", "i:size", "window"),
        ("y y2", "y:y2", "window"),
        ("y y2", "y2:y", "window"),
    ],
)
def test_an_end_is_computed_from_the_start_by_name(names: str, part: str, via: str) -> None:
    text = STEP.replace("BODY", DRAW.format(*names.split(), part))
    assert {fact.via for fact in facts(text) if fact.kind == "changing-constant"} == {via}
