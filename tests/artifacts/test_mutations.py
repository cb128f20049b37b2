"""Damaged files of every kind: no exception, no crashed rule, and every report has a place.

XLAMIG_MUTATIONS sets how many.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.damage import cases
from benchmarks.damage.mutations import mutants
from xlamig import engine
from xlamig.engine import Options

COUNT = int(os.environ.get("XLAMIG_MUTATIONS", "300"))
SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name for path in SAMPLES.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    for number, mutant in enumerate(mutants([data], max(1, COUNT // len(NAMES)))):
        try:
            cases.check(name, mutant)
        except BaseException as error:
            error.add_note(f"mutant {number}")
            raise


def test_every_sample_says_something() -> None:
    for name in NAMES:
        given = Options(isolated=True, jobs=1, stdin=(name, (SAMPLES / name).read_bytes()), whole=True)
        found = engine.check([Path(name)], given).findings
        assert found and "XLA000" not in {finding.code for finding in found}, name
