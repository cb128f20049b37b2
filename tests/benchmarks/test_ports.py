"""Labels of ports: what they say, and which findings report them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks.ports.hits import reported
from benchmarks.ports.labels import TODAY, Label, Port, moved, ports
from benchmarks.ports.score import Result, missed, recall, score, tables

PORTS = ports()
CODE = "def step(x):\n    y = x\n    y.backward()\n    return y\n\n\ndef other(x):\n    return x\n"


def label(line: int, kind: str = "modify", today: str = "real", detectability: str = "static") -> Label:
    text = CODE.splitlines()[line - 1].strip()
    sha1 = hashlib.sha1(text.encode()).hexdigest()[:12]
    return Label("a.py", line, line, kind, "host-sync", detectability, today, sha1)


def port(*labels: Label) -> Port:
    return Port("one", "owner/name", "0" * 40, "ports", ("a.py",), labels)


def finding(row: int, code: str = "XLA101", end: int | None = None) -> dict[str, object]:
    return {
        "filename": "a.py",
        "code": code,
        "severity": "warning",
        "location": {"row": row},
        "end_location": {"row": end or row},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path


def test_twenty_ports_and_fold_0_are_labelled() -> None:
    sources = [one.source for one in PORTS]
    assert sources.count("fold 0") == 14
    assert sources.count("ports") >= 20


@pytest.mark.parametrize("one", PORTS, ids=lambda one: one.id)
def test_each_label_has_a_known_worth_and_a_file_of_its_port(one: Port) -> None:
    assert one.labels
    for found in one.labels:
        assert found.today in TODAY
        assert found.detectability in ("static", "contextual", "unknowable")
        assert found.kind in ("modify", "delete", "insertion", "guarded")
        assert found.file in one.files
        assert 1 <= found.line <= found.end_line


def test_a_finding_two_lines_away_does_not_report_a_label(folder: Path) -> None:
    assert reported(port(label(1)), folder, [finding(3)]) == [""]
    assert reported(port(label(2)), folder, [finding(3)]) == ["warning"]


def test_the_strongest_finding_counts(folder: Path) -> None:
    weak = finding(2) | {"severity": "info"}
    assert reported(port(label(2)), folder, [weak]) == ["info"]
    assert reported(port(label(2)), folder, [weak, finding(2) | {"severity": "error"}]) == ["error"]


def test_a_finding_about_a_whole_function_does_not_report_each_of_its_lines(folder: Path) -> None:
    (folder / "a.py").write_text(CODE + "\n" * 40 + "last = 1\n")
    far = Label("a.py", 49, 49, "modify", "other", "static", "real", "")
    assert reported(port(far), folder, [finding(1, end=60)]) == [""]


def test_an_insertion_is_reported_by_a_missing_step_in_the_same_function(folder: Path) -> None:
    inserted = Label("a.py", 8, 8, "insertion", "optimizer-step/sync", "static", "real", "")
    (folder / "a.py").write_text("def step(x):\n" + "    x = x\n" * 20)
    assert reported(port(inserted), folder, [finding(20, "XLA401")]) == ["warning"]
    assert reported(port(inserted), folder, [finding(20, "XLA101")]) == [""]


def test_a_label_whose_line_changed_is_found(folder: Path) -> None:
    one = port(label(2), label(3))
    assert list(moved(one, folder)) == []
    (folder / "a.py").write_text(CODE.replace("y = x", "y = 2 * x"))
    assert [found.line for found in moved(one, folder)] == [2]


def test_recall_leaves_out_what_nobody_could_know() -> None:
    labels = (
        (label(1), "info"),
        (label(2, detectability="unknowable"), ""),
        (label(3, today="choice"), ""),
    )
    result = Result("one", "dev", "ports", labels)
    assert recall([result]) == (1, 1)
    assert recall([result], severities=("error", "warning")) == (0, 1)
    assert recall([result], "choice") == (0, 1)


def test_misses_of_test_are_not_listed() -> None:
    results = [Result(half, half, "ports", ((label(1), ""),)) for half in ("dev", "test")]  # type: ignore[arg-type]
    assert [row.split(":")[1].split()[0] for row in missed(results)] == ["dev"]
    assert "test" not in "\n".join(tables(results)).replace("test", "", 1)


def test_a_missing_mirror_is_counted_and_listed(tmp_path: Path) -> None:
    results = list(score(tmp_path, store=tmp_path / "store"))
    assert len(results) == len(PORTS)
    assert all("no git directory" in one.failed for one in results)
    assert f"0 of {sum(one.half == 'dev' for one in PORTS)} ports" in list(tables(results))[-1]
