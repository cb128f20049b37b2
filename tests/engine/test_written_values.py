"""Values of options in the texts of settings and pages."""

from __future__ import annotations

import pytest

from xlamig.engine.written_values import given_in_texts
from xlamig.flow.model.option_codes import FINITE, OFF, UNKNOWN


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("rate: 0.", OFF),
        ("--rate 0.00", OFF),
        ("rate = 0e-3", OFF),
        ("rate: 0.01", FINITE),
        ("--rate .5", FINITE),
        ("rate:\n  values: [0, 0.1]\n", UNKNOWN),
        ("rate:\n    distribution: uniform\n", UNKNOWN),
    ],
)
def test_a_number_is_zero_in_any_form_and_open_in_a_sweep(text: str, code: str) -> None:
    assert list(given_in_texts(["rate"], [text])) == [("rate", code)]


def test_a_section_gives_no_value() -> None:
    assert not list(given_in_texts(["rate"], ["rate:\n  width: 3\n"]))
