"""DuckDB on the folder, and what changed between two scans."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.fleet.conftest import run_cli


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("SELEC 1",), "Parser Error"),
        (("SELECT * FROM finding",), "finding does not exist"),
        (("SELECT 1", "--date", "2020-01-01"), "no scan of 2020-01-01"),
    ],
)
def test_says_what_is_wrong_with_a_question(scanned: Path, arguments: tuple[str, ...], said: str) -> None:
    sql, *rest = arguments
    result = run_cli("query", sql, scanned, *rest)
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "internal error" not in result.output


def test_says_that_a_folder_has_no_scan(tmp_path: Path) -> None:
    assert "no scan in" in run_cli("query", "SELECT 1", tmp_path).output


def test_tables_are_those_of_the_latest_scan(scanned: Path) -> None:
    names = "SELECT name FROM repositories ORDER BY name"
    latest = run_cli("query", names, scanned, "--output-format", "json")
    assert [row["name"] for row in json.loads(latest.stdout)] == ["acme-ops", "gone", "trainer"]
    first = run_cli("query", names, scanned, "--date", "2026-01-01", "--output-format", "csv")
    assert list(csv.reader(first.stdout.splitlines()))[1:] == [["acme-ops"], ["docs"], ["gone"], ["trainer"]]
    both = run_cli("query", "SELECT DISTINCT scan_date FROM history.findings ORDER BY 1", scanned)
    assert both.stdout.split() == ["scan_date", "2026-01-01", "2026-02-01"]


def test_text_says_how_many_rows_are_left_out(scanned: Path) -> None:
    result = run_cli("query", "SELECT range AS n, NULL AS nothing FROM range(250)", scanned)
    assert result.stdout.splitlines()[-1] == "... and 50 more rows: --output-format csv has them all"
    assert result.stdout.splitlines()[1].split() == ["0", "-"]


def test_a_scan_without_findings_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    assert run_cli("scan", tmp_path / "it", "-o", tmp_path / "out", "--isolated").exit_code == 0
    result = run_cli("query", "SELECT count(*) AS n FROM findings", tmp_path / "out")
    assert result.stdout.split() == ["n", "0"]


def test_diff_refuses_the_same_scan(scanned: Path) -> None:
    result = run_cli("diff", scanned, f"{scanned}@2026-02-01")
    assert f"name another, as in {scanned}@2026-01-01" in result.output


def test_diff_says_what_changed(scanned: Path) -> None:
    result = run_cli("diff", f"{scanned}@2026-01-01", scanned)
    assert "1 changed, 2 unchanged, 0 added, 1 removed" in result.stdout
    assert "Removed: docs" in result.stdout
    found = json.loads(run_cli("diff", f"{scanned}@2026-01-01", scanned, "--output-format", "json").stdout)
    (change,) = found["changed"]
    assert change["name"] == "trainer"
    assert change["gone"] > change["new"]
    assert change["hours_after"] < change["hours_before"]
    assert found["rules"]


def test_diff_the_other_way_round_is_the_opposite(scanned: Path) -> None:
    there, back = (
        json.loads(run_cli("diff", *sides, "--output-format", "json").stdout)
        for sides in ((f"{scanned}@2026-01-01", scanned), (scanned, f"{scanned}@2026-01-01"))
    )
    assert there["removed"] == back["added"] == ["docs"]
    assert (there["changed"][0]["new"], there["changed"][0]["gone"]) == (
        back["changed"][0]["gone"],
        back["changed"][0]["new"],
    )
