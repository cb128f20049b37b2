"""The tables of APIs and operators: no row that nothing can reach, none that two rules report."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.books import BOOK

from xlamig.config.settings import TARGETS, Settings
from xlamig.knowledge.operators import operators
from xlamig.rulebook.parameters import misspelled_names
from xlamig.rulebook.rule import Rule

OPERATORS = Path(__file__).parents[2] / "rules" / "api" / "operators.toml"


@pytest.mark.parametrize("name", tomllib.loads(OPERATORS.read_text("utf-8"))["row"])
def test_advice_is_about_an_operator_that_was_measured(name: str) -> None:
    tables = [operators(target) for target in TARGETS]
    near = {other for table in tables for other in table.nearest(name)}
    if not any(name in table for table in tables):
        pytest.fail(f"rules/api/operators.toml: {name} was not measured; near: {sorted(near)}", pytrace=False)


def rows_of(rule: Rule) -> set[tuple[str, str]]:
    """Return name and target of every row that the rule takes its verdict from."""
    rows = [row for match in rule.matches if match.kind == "api-use" for row in match.rows]
    targets = {verdict.target for verdict in rule.verdicts if verdict.from_row}
    return {
        (name, target)
        for row in rows
        for target in targets & row.all_rulings.keys()
        for name in (row.name, *row.aliases)
    }


ROWS = {rule.code: rows for rule in BOOK.rules if (rows := rows_of(rule))}


@pytest.mark.parametrize("code", ROWS)
def test_a_row_is_reported_by_one_rule(code: str) -> None:
    twice = {name: other for other in ROWS if other != code for name, _ in ROWS[code] & ROWS[other]}
    lines = [f"{name} is a row of {code} and of {other}: keep one" for name, other in sorted(twice.items())]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.mark.parametrize("rule", BOOK.rules, ids=lambda rule: rule.code)
def test_names_are_spelled_as_torch_spells_them(rule: Rule) -> None:
    if lines := list(misspelled_names(rule)):
        pytest.fail("\n".join(lines), pytrace=False)
