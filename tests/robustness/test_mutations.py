"""Damaged files: no exception comes out of the engine, and a fix never makes damage worse.

XLAMIG_MUTATIONS sets how many, XLAMIG_MUTATION_FILES a folder whose files are damaged instead of ours.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

from benchmarks.damage import cases
from benchmarks.damage.mutations import mutants

COUNT = int(os.environ.get("XLAMIG_MUTATIONS", "300"))
SHARDS = 4
FIXTURES = Path(__file__).parents[2] / "fixtures"
STDLIB = Path(sysconfig.get_path("stdlib"))


def sources() -> list[bytes]:
    folder = os.environ.get("XLAMIG_MUTATION_FILES")
    if folder:
        paths = sorted(path for path in Path(folder).rglob("*.py") if path.stat().st_size < 40_000)
    else:
        paths = sorted(FIXTURES.glob("XLA*/*/bad.py"))
        paths += [STDLIB / name for name in ("fractions.py", "contextlib.py", "stat.py", "types.py")]
    return [path.read_bytes() for path in paths]


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_damaged_file_is_checked_and_fixed(
    shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, data in enumerate(mutants(sources(), COUNT)):
        if number % SHARDS == shard:
            try:
                cases.fix("a.py", data)
            except BaseException as error:
                error.add_note(f"mutant {number}")
                raise
