"""Verdicts for some releases of a target only."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_books import MATCH, VERDICT, api, book, judge, page, reported

from xlamig.rulebook import RulebookError

NEW = VERDICT + 'versions = ">=2.9"\n'
OLD = VERDICT + 'versions = "<2.9"\nmessage = "old"\n'
FROM_ROW = '[[match]]\nfact = "api-use"\ntable = "t"\n[[verdict]]\ntarget = "torch_xla"\nfrom-row = true\n'
ROW = """
[row."torch.f".torch_xla]
versions = ">=2.9"
severity = "error"
mechanism = "error"
message = "it is {row.torch_xla.versions}"
"""
ROWS = """
[[row."torch.f".torch_xla]]
versions = "<2.7"
severity = "info"
mechanism = "no-op"
note = "first"
[[row."torch.f".torch_xla]]
versions = "<2.9"
severity = "warning"
mechanism = "slow"
"""


@pytest.mark.parametrize(
    ("version", "messages"),
    [("2.8", ["old"]), ("2.8.1", ["old"]), ("2.9", ["found it"]), (None, ["found it"])],
)
def test_a_verdict_of_another_version_is_passed_over(
    tmp_path: Path, version: str | None, messages: list[str]
) -> None:
    rules = book(tmp_path, page(MATCH + NEW + OLD), target_version=version)
    assert [judgement.finding.message for judgement in judge(rules, api())] == messages


def test_a_rule_without_a_verdict_for_the_version_is_not_active(tmp_path: Path) -> None:
    assert not book(tmp_path, page(MATCH + NEW), target_version="2.8").active
    assert book(tmp_path, page(MATCH + NEW), target_version="2.10.0.dev1").active


def test_the_version_is_that_of_the_chosen_target(tmp_path: Path) -> None:
    tpu = (VERDICT + 'versions = ">=0.3"\n').replace("torch_xla", "torch_tpu")
    for version, codes in (("0.2", []), (None, []), ("0.3", ["XLA001"])):
        rules = book(tmp_path, page(MATCH + NEW + tpu), target="torch_tpu", target_version=version)
        assert reported(rules, api()) == codes


@pytest.mark.parametrize(("version", "codes"), [("2.8", []), ("2.9", ["XLA001"])])
def test_a_rows_table_of_another_version_is_not_there(tmp_path: Path, version: str, codes: list[str]) -> None:
    rules = book(tmp_path, page(FROM_ROW), tables={"api/t.toml": ROW}, target_version=version)
    assert reported(rules, api()) == codes


def test_a_row_of_another_version_fits_no_pattern(tmp_path: Path) -> None:
    match = '[[match]]\nfact = "api-use"\ntable = "t"\nrow = { torch_xla = { severity = "error" } }\n'
    for version, codes in (("2.8", []), ("2.9", ["XLA001"])):
        rules = book(tmp_path, page(match + VERDICT), tables={"api/t.toml": ROW}, target_version=version)
        assert reported(rules, api()) == codes


@pytest.mark.parametrize(("version", "severities"), [("2.6", ["info"]), ("2.8", ["warning"]), ("2.9", [])])
def test_of_several_tables_the_first_for_the_version_counts(
    tmp_path: Path, version: str, severities: list[str]
) -> None:
    text = ROWS.replace('note = "first"\n', "")
    rules = book(tmp_path, page(FROM_ROW), tables={"api/t.toml": text}, target_version=version)
    assert [judgement.finding.severity for judgement in judge(rules, api())] == severities


@pytest.mark.parametrize(
    ("text", "table", "message"),
    [
        (MATCH + VERDICT + 'versions = "2.9"\n', "", 'verdict[0].versions: "2.9" is no version specifier'),
        (MATCH + VERDICT + 'versions = ""\n', "", "an empty specifier"),
        (FROM_ROW, ROW.replace(">=2.9", "new"), '".torch_xla.versions: "new" is no version specifier'),
        (FROM_ROW, ROWS, '".torch_xla[0].note: unknown key'),
        (FROM_ROW, ROW.replace("{row.torch_xla", "{row.torch_tpu"), "no row has {row.torch_tpu.versions}"),
    ],
)
def test_mistakes_are_found_whatever_the_version(tmp_path: Path, text: str, table: str, message: str) -> None:
    with pytest.raises(RulebookError) as caught:
        book(tmp_path, page(text), tables={"api/t.toml": table}, target_version="2.4")
    assert message in str(caught.value)
