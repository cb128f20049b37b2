"""Lines that were missed in real ports stay found; those still missed are listed with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

from .recall_probes import MISSED, PROBES

_MARK = re.compile(r"# (expect|missed): (XLA\d+)")


def marked(files: dict[str, str], word: str) -> set[tuple[str, int, str]]:
    return {
        (name, row, mark[2])
        for name, text in files.items()
        for row, line in enumerate(text.split("\n"), 1)
        if (mark := _MARK.search(line)) and mark[1] == word
    }


def found(folder: Path, files: dict[str, str]) -> set[tuple[str, int, str]]:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    settings = {"select": ["ALL"], "preview": True, "confidence": "possible"}
    report = engine.check([folder], Options(settings, isolated=True, cache=False, jobs=1))
    return {(Path(f.filename).name, f.place.location.row, f.code) for f in report.findings}


@pytest.mark.parametrize("probe", PROBES)
def test_marked_lines_are_reported(tmp_path: Path, probe: str) -> None:
    files = PROBES[probe]
    reported = found(tmp_path, files)
    assert marked(files, "expect") - reported == set()
    assert marked(files, "missed") & reported == set()  # one that is found now is to be expected


def test_every_missed_line_has_a_reason() -> None:
    assert {code for files in PROBES.values() for *_, code in marked(files, "missed")} == MISSED.keys()


def test_calls_of_another_file_are_reported_as_in_one(tmp_path: Path) -> None:
    both: list[set[tuple[str, str]]] = []
    for probe in ("calls of another file", "the same calls in one file"):
        folder = tmp_path / str(len(both))
        folder.mkdir()
        files = PROBES[probe]
        lines = {name: text.split("\n") for name, text in files.items()}
        both.append({(lines[name][row - 1], code) for name, row, code in found(folder, files)})
    assert both[0] == both[1]
