"""Judged findings: the draw, the file, and what becomes of them in a later version."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.judged import agreement
from benchmarks.judged.__main__ import main
from benchmarks.judged.compare import Outcome, look_up
from benchmarks.judged.places import Sources
from benchmarks.judged.records import BadRecord, Judged, load, load_sets, save
from benchmarks.judged.report import share, weighted
from benchmarks.judged.sample import draw

SOURCE = "import torch\nx = torch.ones(1).cuda()\nprint(x)\ny = x.cpu()\n"


def finding(row: int, code: str = "XLA002", severity: str = "error", **more: Any) -> dict[str, Any]:
    place = {"filename": "a.py", "cell": None, "location": {"row": row, "column": 1}}
    return {"code": code, "severity": severity, "reasons": [], **place, **more}


def record(folder: Path, row: int, verdict: str, severity: str = "error", **more: Any) -> Judged:
    place = Sources(folder).at("a.py", None, row)
    statement = ("XLA002", place.digest, place.number)
    found = Judged("o/r", "c", "a.py", None, row, *statement, severity, "likely", "step", "v", 4, 2)
    found.verdict, found.why = verdict, "because"
    for name, value in more.items():
        setattr(found, name, value)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(SOURCE, "utf-8")
    return tmp_path


def outcome(folder: Path, judged: Judged, *findings: dict[str, Any]) -> Outcome:
    (found,) = look_up([judged], findings, Sources(folder))
    return found


def test_the_draw_is_the_same_for_a_seed_and_caps_each_rule() -> None:
    many = [finding(row) for row in range(100)] + [finding(row, "XLA101", "warning") for row in range(3)]
    many += [finding(row, "XLA905", "info") for row in range(50)]
    one, two = draw(many, 24, 1), draw(many, 24, 1)
    assert one == two != draw(many, 24, 2)
    codes = [f["code"] for f, _, _ in one]
    assert codes.count("XLA002") == 3
    assert {(of, drawn) for f, of, drawn in one if f["code"] == "XLA002"} == {(100, 3)}


def test_infos_are_about_a_quarter_of_the_draw() -> None:
    codes = [f"XLA{n}" for n in range(100, 140)]
    many = [finding(1, code) for code in codes] + [finding(1, code, "info") for code in codes]
    drawn = [f["severity"] for f, _, _ in draw(many, 24, 1)]
    assert (drawn.count("error"), drawn.count("info")) == (18, 6)


def test_a_false_finding_that_is_gone_is_as_it_should_be(folder: Path) -> None:
    assert outcome(folder, record(folder, 2, "false"), finding(3)).regression is None


def test_a_false_finding_that_is_reported_is_a_regression(folder: Path) -> None:
    found = outcome(folder, record(folder, 2, "false"), finding(2))
    assert (found.status, found.regression) == ("reported", "still reported")


def test_noise_that_became_an_info_is_as_it_should_be(folder: Path) -> None:
    found = outcome(folder, record(folder, 2, "noise"), finding(2, severity="info"))
    assert (found.status, found.regression, found.strong) == ("lowered", None, False)


def test_noise_that_was_an_info_has_to_go(folder: Path) -> None:
    found = outcome(folder, record(folder, 2, "noise", severity="info"), finding(2, severity="info"))
    assert found.regression == "still reported"


def test_a_true_finding_must_not_vanish_or_become_an_info(folder: Path) -> None:
    true = record(folder, 2, "true")
    assert outcome(folder, true).regression == "vanished"
    assert outcome(folder, true, finding(2, severity="info")).regression == "only info now"
    assert outcome(folder, true, finding(2)).regression is None


def test_a_true_finding_may_be_folded_or_renamed(folder: Path) -> None:
    true = record(folder, 2, "true")
    reason = {"message": "also here", "filename": "a.py", "location": {"row": 2, "column": 1}}
    assert outcome(folder, true, finding(4, reasons=[reason])).status == "folded"
    assert outcome(folder, true, finding(2, "XLA001")).status == "renamed"


def test_a_set_is_read_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "sets" / "one.jsonl"
    save(path, [record(folder, 4, "noise"), record(folder, 2, "true")])
    assert [f.line for f in load(path)] == [2, 4]
    assert [*load_sets(folder=path.parent)] == ["one"]


@pytest.mark.parametrize("change", [{"verdict": "maybe"}, {"why": ""}, {"second": "no", "second_why": "x"}])
def test_a_bad_verdict_names_its_line(folder: Path, tmp_path: Path, change: dict[str, str]) -> None:
    path = tmp_path / "one.jsonl"
    found = record(folder, 2, "noise")
    for name, value in change.items():
        setattr(found, name, value)
    save(path, [found])
    with pytest.raises(BadRecord, match=r"one.jsonl:1"):
        load(path)


def test_every_stored_finding_is_judged_and_its_own() -> None:
    for findings in load_sets().values():
        assert all(f.verdict and f.of >= f.drawn >= 1 for f in findings)
        assert len({f.id for f in findings}) == len(findings)


def test_shares_are_those_of_the_errors_and_warnings(folder: Path) -> None:
    rows = [record(folder, 2, "true"), record(folder, 4, "noise", of=6)]
    assert share(rows) == "1/2 50% (10-90%)"
    assert weighted(rows)["noise"] == pytest.approx(3 / 5)


def test_kappa_counts_chance_out() -> None:
    pairs = [("true", "true")] * 4 + [("noise", "noise")] * 3 + [("true", "noise")] * 2 + [("noise", "true")]
    assert agreement.raw(pairs) == pytest.approx(0.7)
    assert agreement.kappa(pairs) == pytest.approx(0.4)
    assert agreement.kappa([("true", "true")]) is None
    assert agreement.raw([]) is agreement.kappa([]) is None


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    repository = tmp_path / "mirror" / "o+r" / "repo"
    repository.mkdir(parents=True)
    (repository / "a.py").write_text(SOURCE, "utf-8")
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "a.py"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    return tmp_path / "mirror"


@pytest.mark.slow
def test_sample_store_and_check(mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet, sets, cache = tmp_path / "sheet.jsonl", tmp_path / "sets", tmp_path / "cache"
    kept = ["--mirror", str(mirror), "--cache", str(cache)]
    assert main(["sample", "o/r", *kept, "--n", "5", "-o", str(sheet)]) == 0
    assert "x = torch.ones(1).cuda()" in capsys.readouterr().out
    rows = [json.loads(line) for line in sheet.read_text("utf-8").splitlines()]
    assert rows and "cuda()" not in sheet.read_text("utf-8")
    judged = [{**row, "verdict": "false", "why": "it is right"} for row in rows[:1]]
    sheet.write_text("\n".join(map(json.dumps, judged)), "utf-8")
    assert main(["store", str(sheet), "--set", "one", "--sets", str(sets)]) == 0
    second = {"id": rows[0]["id"], "second": "noise", "second_why": "a test"}
    sheet.write_text(json.dumps(second) + "\n" + json.dumps({"id": "?", "second": "true"}), "utf-8")
    assert main(["store", str(sheet), "--set", "one", "--second", "--sets", str(sets)]) == 0
    assert "1 stored, 1 without a verdict or unknown" in capsys.readouterr().out
    (found,) = load(sets / "one.jsonl")
    assert (found.verdict, found.second) == ("false", "noise")
    assert main(["check", *kept, "--sets", str(sets)]) == 1
    assert "1 of 1 are not as they should be, 1 of them new" in capsys.readouterr().out
    assert main(["check", *kept, "--sets", str(sets), "--accept"]) == 0
    assert main(["check", *kept, "--sets", str(sets)]) == 0


def test_a_missing_mirror_is_listed(mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "sets" / "one.jsonl", [record(mirror / "o+r" / "repo", 2, "true", repo="o/absent")])
    kept = ["--mirror", str(mirror), "--cache", str(tmp_path), "--sets", str(tmp_path / "sets")]
    assert main(["check", *kept]) == 0
    assert "could not be checked: 1\n  o/absent: " in capsys.readouterr().out
    assert main(["sample", "o/absent", "--mirror", str(mirror)]) == 2


def test_a_finding_that_is_only_counted_is_gone_for_noise_and_too_little_for_a_true_one(folder: Path) -> None:
    counted = finding(2, severity="info", aside="tests")
    for severity in ("error", "info"):
        assert outcome(folder, record(folder, 2, "noise", severity=severity), counted).regression is None
    assert outcome(folder, record(folder, 2, "true"), counted).regression == "only info now"
