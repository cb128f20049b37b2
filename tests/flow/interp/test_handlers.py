"""`try`: what handles an error runs in some steps."""

from __future__ import annotations

import pytest

from .said import STEP, facts


@pytest.mark.parametrize(
    ("place", "frequency"),
    [
        ("try:\n    z = x.cpu()\nexcept RuntimeError:\n    z = None", "step"),
        ("try:\n    z = model(x)\nexcept RuntimeError:\n    z = x.cpu()", "interval"),
        ("try:\n    z = model(x)\nexcept:\n    z = None\nelse:\n    z = x.cpu()", "step"),
        ("try:\n    z = model(x)\nexcept OSError:\n    z = None\nfinally:\n    z = x.cpu()", "step"),
    ],
)
def test_handlers_run_in_some_steps(place: str, frequency: str) -> None:
    text = STEP.replace("BODY", place.replace("\n", "\n        "))
    reads = [fact for fact in facts(text) if fact.kind == "host-read"]
    assert [read.frequency for read in reads] == [frequency]
