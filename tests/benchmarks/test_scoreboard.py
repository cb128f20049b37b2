"""The table of all figures, with those of the commit before."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scoreboard import history
from benchmarks.scoreboard.__main__ import main, table
from benchmarks.scoreboard.rows import Better, Figure, Row, diverging


def row(dev: float, test: float, better: Better = "more", unit: str = "") -> Row:
    return Row("measure", {"dev": Figure(dev, 10), "test": Figure(test, 10)}, unit, better)


def test_equal_figures_have_no_sign() -> None:
    assert row(5, 5).sign("dev", row(5, 5)) == ""


def test_a_change_is_better_or_worse_by_its_measure() -> None:
    assert row(6, 5).sign("dev", row(5, 5)) == "+"
    assert row(6, 5, better="less").sign("dev", row(5, 5)) == "-"
    assert row(6, 5, better="neither").sign("dev", row(5, 5)) == ""


def test_a_small_change_of_a_time_is_no_change() -> None:
    assert row(5.5, 5, "less", "s").sign("dev", row(5, 5)) == ""
    assert row(6.0, 5, "less", "s").sign("dev", row(5, 5)) == "-"


def test_better_on_dev_and_worse_on_test_is_named() -> None:
    before = {"measure": row(5, 5)}
    assert diverging([row(6, 4)], before) == ["measure"]
    assert diverging([row(6, 5)], before) == diverging([row(4, 6)], before) == []
    assert diverging([row(6, 4)], {}) == []


def test_figures_of_other_cases_do_not_compare() -> None:
    before = Row("measure", row(5, 5).figures, cases="700 models")
    now = Row("measure", row(6, 4).figures, cases="800 models")
    assert now.change("dev", before) == now.change("test", before) == "50% *"
    assert diverging([now], {"measure": before}) == []


def test_a_share_has_its_interval_and_a_rate_has_none() -> None:
    assert row(5, 0).text("dev") == "5/10 50% (24-76%)"
    assert row(5, 0, unit="s").text("dev") == "0.50"
    assert Row("measure", {"dev": Figure(0, 0)}).text("dev") == Row("measure").text("test") == "-"


def test_the_table_shows_the_figures_before() -> None:
    (_, line) = table([row(6, 4)], {"measure": row(5, 5)})
    assert line.split() == [
        "measure",
        "6/10",
        "60%",
        "(31-83%)",
        "50%",
        "+",
        "4/10",
        "40%",
        "(17-69%)",
        "50%",
        "-",
    ]


def test_history_is_read_as_it_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert history.load(path) == []
    history.store([row(5, 5)], "one", path)
    history.store([row(6, 4)], "two", path)
    history.store([row(7, 4)], "two", path)
    entries = history.load(path)
    assert [entry.commit for entry in entries] == ["one", "two"]
    assert entries[1].rows["measure"].figures == row(7, 4).figures
    before = history.previous(entries, "two")
    assert before is not None and before.commit == "one"
    assert history.previous(entries[:1], "one") is None


def test_figures_of_one_section_leave_the_others_of_the_commit(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history.store([Row("a", {"dev": Figure(1, 2)})], "one", path)
    history.store([Row("b", {"dev": Figure(1, 3)})], "one", path)
    (entry,) = history.load(path)
    assert [*entry.rows] == ["a", "b"]


def test_a_measure_that_the_commit_before_lacks_comes_from_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history.store(
        [Row("a", {"dev": Figure(1, 2)}), Row("b", {"dev": Figure(1, 3)}, cases="3 files")], "one", path
    )
    history.store([Row("a", {"dev": Figure(2, 2)})], "two", path)
    before = history.previous(history.load(path), "three")
    assert before is not None and before.commit == "two"
    assert (before.rows["a"].figures["dev"].part, before.rows["b"].cases) == (2, "3 files")


def test_what_cannot_run_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLAMIG_MIRROR", raising=False)
    assert main(["--only", "judged", "warm"]) == 0
    assert "not run: judged, findings per 1000 lines, times: no --mirror" in capsys.readouterr().out


def test_a_mirror_without_the_repositories_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--only", "judged", "--mirror", str(tmp_path), "--cache", str(tmp_path / "cache")]) == 0
    assert "not run: judged: facebookresearch/sam2: " in capsys.readouterr().out
