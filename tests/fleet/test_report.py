"""The report: ranking, blockers, waves and trends, as text, page and JSON."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path

import pytest
from tests.fleet.conftest import run_cli

from xlamig.fleet.ranking import Ranked
from xlamig.fleet.waves import waves


def a_ranked(name: str, hours: float, verdict: str = "easy") -> Ranked:
    return Ranked(name, verdict, hours, hours, hours, hours, 1, 1, "", None)


def names_of(found: list[Ranked], needs: dict[str, list[str]], hours: float) -> list[tuple[str, ...]]:
    return [wave.repositories for wave in waves(found, needs, hours)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tpu", "v99"), "no figures for the TPU 'v99'"),
        (("--price", "v6e"), "expected NAME=PRICE"),
        (("--wave-hours", "0"), "--wave-hours"),
        (("--date", "2020-01-01"), "no scan of 2020-01-01"),
        (("-o", "/no/such/folder/r.html"), "it is no file in an existing folder"),
    ],
)
def test_says_what_is_wrong(scanned: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run_cli("report", scanned, *arguments)
    assert result.exit_code in (1, 2)
    assert said in result.output


def test_nothing_is_ranked_that_has_nothing_to_port_or_failed(scanned: Path) -> None:
    found = json.loads(run_cli("report", scanned, "--date", "2026-01-01", "--output-format", "json").stdout)
    assert {one["name"] for one in found["ranked"]} == {"trainer", "acme-ops"}
    assert [one["name"] for one in found["failed"]] == ["gone"]
    assert found["verdicts"]["nothing"] == 1
    assert found["change"] is None


def test_what_saves_most_for_an_hour_of_work_is_first(scanned: Path) -> None:
    found = json.loads(run_cli("report", scanned, "--output-format", "json").stdout)
    first, second = found["ranked"]
    assert (first["name"], second["name"], second["saving"]) == ("trainer", "acme-ops", None)
    assert first["saving"]["saved"]["likely"] > 0
    # Chip-hours times prices, by hand: the same work at 40 % of the bf16 peak on both sides.
    dear = json.loads(
        run_cli("report", scanned, "--tpu", "v6e", "--price", "v6e=900", "--output-format", "json").stdout
    )
    assert dear["ranked"][-1]["name"] == "trainer"
    assert dear["ranked"][-1]["saving"]["saved"]["likely"] < 0


def test_names_what_one_fix_would_unblock(scanned: Path) -> None:
    found = json.loads(run_cli("report", scanned, "--output-format", "json").stdout)["blockers"]
    (package,) = found["packages"]
    assert (package["package"], package["repositories"]) == ("flash-attn", 1)
    assert package["hours"] > 0
    (shared,) = found["shared"]
    assert (shared["provider"], shared["users"]) == ("acme-ops", ["trainer"])
    assert [kernel["kernel"] for kernel in found["kernels"]] == ["scale"]
    assert {rule["code"] for rule in found["rules"]} >= {"XLA002", "XLA602"}


def test_the_rules_are_counted_by_repository(scanned: Path) -> None:
    rules = json.loads(run_cli("report", scanned, "--output-format", "json").stdout)["blockers"]["rules"]
    counts = [rule["repositories"] for rule in rules]
    assert counts == sorted(counts, reverse=True)
    assert all(rule["repositories"] == 1 for rule in rules if rule["code"] in ("XLA002", "XLA602"))


def test_the_text_tells_the_trend(scanned: Path) -> None:
    text = run_cli("report", scanned).stdout
    assert "2026-01-01: 3 scanned" in text
    assert "2026-02-01: 2 scanned" in text
    assert "1 changed, 2 unchanged, 0 added, 1 removed" in text
    assert "Failed: gone: no such folder" in text
    assert "Since" not in run_cli("report", scanned, "--date", "2026-01-01").stdout


class _Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input"):
            self.stack.append(tag)
        self.loads += [name for name, _ in attrs if name == "src"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass  # in a picture

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing(scanned: Path, tmp_path: Path) -> None:
    result = run_cli("report", scanned, "-o", tmp_path / "report.html", "--hourly-rate", "100")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = _Page(text)
    assert (page.stack, page.loads) == ([], [])
    assert "default-src 'none'" in text
    for said in ("trainer", "acme-ops", "flash-attn", "Waves of the programme", "Since the previous scan"):
        assert said in text


def test_waves_hold_no_more_than_they_may() -> None:
    found = [a_ranked("a", 30), a_ranked("b", 30), a_ranked("c", 50), a_ranked("d", 900)]
    assert names_of(found, {}, 100) == [("a", "b"), ("c",), ("d",)]
    assert names_of([], {}, 100) == []


def test_what_is_needed_comes_first_and_what_is_blocked_last() -> None:
    found = [a_ranked("a", 1), a_ranked("x", 1, "blocked"), a_ranked("b", 1), a_ranked("c", 1)]
    needs = {"a": ["c", "elsewhere"], "c": ["b", "a"]}
    assert names_of(found, needs, 2) == [("b", "c"), ("a", "x")]
    assert names_of(found, {"b": ["x"]}, 9) == [("a", "x", "b", "c")]
