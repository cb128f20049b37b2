"""The requirements for one damaged file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Applicability, FileReport
from xlamig.source.decode import decode
from xlamig.syntax import Unparsable, module_from_text

GRADES: frozenset[Applicability] = frozenset({"safe", "unsafe"})


def check(name: str, data: bytes) -> None:
    """A report without a crashed rule; each finding has a place. Raises AssertionError."""
    report = engine.check([Path(name)], _given(name, data))
    assert not report.rule_errors, report.rule_errors
    assert not report.skipped, report.skipped
    _have_places(report.files)


def fix(name: str, data: bytes) -> None:
    """As `check`; a fixed module parses, and a second run changes nothing. Raises AssertionError."""
    outcome = engine.fix([Path(name)], _given(name, data), GRADES, write=False)
    assert not outcome.before.rule_errors, outcome.before.rule_errors
    assert not outcome.before.skipped, outcome.before.skipped
    _have_places(outcome.before.files)
    for file in outcome.files:
        assert _parses(file.old) and _parses(file.new), "a fix made a file that does not parse"
        assert not outcome.after.rule_errors, outcome.after.rule_errors
        again = _given(name, file.new.encode(decode(data, name).encoding))
        assert not engine.fix([Path(name)], again, GRADES, write=False).files, "a second run changes it again"


def notebook(source: bytes) -> bytes:
    """A notebook whose only cell is `source`."""
    text = source.decode("utf-8", "replace")
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _given(name: str, data: bytes) -> Options:
    return Options(isolated=True, jobs=1, stdin=(name, data), whole=True)


def _have_places(files: Sequence[FileReport]) -> None:
    for finding in (finding for file in files for finding in file.findings):
        assert 0 <= finding.place.start <= finding.place.end, finding
        assert finding.place.location.row > 0, finding


def _parses(text: str) -> bool:
    try:
        module_from_text(text)
    except Unparsable:
        return False
    return True
