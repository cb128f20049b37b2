from __future__ import annotations

import pytest

from xlamig.config.errors import did_you_mean, nearest

RULES = [
    "XLA003",
    "XLA013",
    "XLA903",
    "XLA909",
    "cuda-synchronize",
    "tensor-item-in-loop",
    "fail-on",
    "check",
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("XLA03", ["XLA003", "XLA013"]),
        ("xla003", ["XLA003"]),
        ("XLA999", ["XLA909"]),
        ("cuda-syncronize", ["cuda-synchronize"]),
        ("cuda_synchronize", ["cuda-synchronize"]),
        ("failon", ["fail-on"]),
        ("chek", ["check"]),
        ("item", ["tensor-item-in-loop"]),
        ("entirely-else", []),
        ("", []),
    ],
)
def test_the_nearest_words(word: str, expected: list[str]) -> None:
    assert nearest(word, RULES) == expected


def test_the_hint_is_a_clause_or_nothing() -> None:
    assert did_you_mean("XLA03", RULES) == '; did you mean "XLA003" or "XLA013"?'
    assert did_you_mean("zzz", RULES) == did_you_mean("x", []) == ""
