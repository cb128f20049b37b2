"""The tables of APIs and operators: no row that nothing can reach, none that two rules report."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlamig.config.settings import TARGETS, Settings
from xlamig.knowledge.operators import operators
from xlamig.rulebook import load
from xlamig.rulebook.rule import Rule

BOOK = load(Settings(preview=True))
OPERATORS = Path(__file__).parents[2] / "rules" / "api" / "operators.toml"


@pytest.mark.parametrize("name", tomllib.loads(OPERATORS.read_text("utf-8"))["row"])
def test_advice_is_about_an_operator_that_was_measured(name: str) -> None:
    tables = [operators(target) for target in TARGETS]
    near = {other for table in tables for other in table.nearest(name)}
    if not any(name in table for table in tables):
        pytest.fail(f"rules/api/operators.toml: {name} was not measured; near: {sorted(near)}", pytrace=False)


def reported_by(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield name and target of every row that the rule takes its verdict from."""
    for row in (row for match in rule.matches if match.kind == "api-use" for row in match.rows):
        for verdict in rule.verdicts:
            if verdict.from_row and verdict.target in row.all_rulings:
                yield from ((name, verdict.target) for name in (row.name, *row.aliases))


def test_a_name_is_a_row_of_one_rule_only() -> None:
    codes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rule in BOOK.rules:
        for key in reported_by(rule):
            codes[key].add(rule.code)
    twice = {name: sorted(by) for (name, _), by in codes.items() if len(by) > 1}
    lines = [f"{name} is a row of {' and '.join(by)}: keep one, or let one supersede" for name, by in twice.items()]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)
