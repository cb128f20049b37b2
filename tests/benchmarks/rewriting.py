"""Compare the findings of a program with those of each of its rewrites."""

from __future__ import annotations

from benchmarks.metamorphic.__main__ import difference, findings
from benchmarks.metamorphic.program import MAIN
from benchmarks.metamorphic.rewrites import rewrites


def codes(text: str) -> set[str]:
    """Return the codes of the findings of a program."""
    return {code for _, _, code in findings({MAIN: text})}


def rows(code: str, text: str) -> set[int]:
    """Return the lines of the findings of a code."""
    return {row for _, row, found in findings({MAIN: text}) if found == code}


def assert_every_rewrite_keeps_the_findings(expected: set[str], text: str) -> None:
    """Fail where a rewrite loses or adds a finding, or where the program has not the expected codes, so that
    it would be a test of nothing."""
    assert expected <= codes(text)
    made = list(rewrites(text))
    assert made
    changed = {(one.kind, one.what): difference(text, one) for one in made}
    assert {key: found for key, found in changed.items() if any(found)} == {}
