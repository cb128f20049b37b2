"""The pages of the book keep what they say: their examples are programs, checked like any other."""

from __future__ import annotations

import pytest
from tests.books import BOOK

from xlamig.engine.examples import mistakes
from xlamig.rulebook.examples import Example, examples_of
from xlamig.rulebook.rule import Rule

RULES = [rule for rule in BOOK.rules if rule.status != "withdrawn"]
EXAMPLES = [(rule.code, example) for rule in RULES for example in examples_of(rule.page)]


@pytest.mark.parametrize(("code", "example"), EXAMPLES, ids=lambda value: getattr(value, "place", None))
def test_an_example_is_reported_on_its_marked_lines(code: str, example: Example) -> None:
    if found := mistakes(example, code):
        pytest.fail("\n".join(found), pytrace=False)


def test_rules_about_programs_have_examples() -> None:
    shown = {code for code, example in EXAMPLES if example.reports}
    without = {rule.code for rule in RULES} - shown
    assert {code for code in without if not code.startswith("XLA09")} == {"XLA000"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_verdict_gives_a_reason(rule: Rule) -> None:
    assert all(rule.reason or verdict.ruling.reason for verdict in rule.verdicts)
