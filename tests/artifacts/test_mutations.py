"""Damaged files of every kind: no exception, no crashed rule, and what is told has a place.

XLAMIG_MUTATIONS sets how many.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

sys.path.insert(0, str(Path(__file__).parents[1] / "robustness"))
from mutations import mutants

COUNT = int(os.environ.get("XLAMIG_MUTATIONS", "300"))
SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name for path in SAMPLES.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    for number, mutant in enumerate(mutants([data], max(1, COUNT // len(NAMES)))):
        given = Options(isolated=True, jobs=1, stdin=(name, mutant), whole=True)
        try:
            report = engine.check([Path(name)], given)
        except BaseException as error:
            error.add_note(f"mutant {number}")
            raise
        assert not report.rule_errors and not report.skipped
        for finding in report.findings:
            assert 0 <= finding.place.start <= finding.place.end and finding.place.location.row > 0


def test_every_sample_says_something() -> None:
    for name in NAMES:
        given = Options(isolated=True, jobs=1, stdin=(name, (SAMPLES / name).read_bytes()), whole=True)
        found = engine.check([Path(name)], given).findings
        assert found and "XLA000" not in {finding.code for finding in found}, name
