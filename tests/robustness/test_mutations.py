"""Damaged files: no exception comes out of the engine, and a fix never makes damage worse.

XLAMIG_MUTATIONS sets how many, XLAMIG_MUTATION_FILES a folder whose files are damaged instead of ours.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest
from mutations import mutants

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Applicability
from xlamig.source.decode import decode
from xlamig.syntax import Unparsable, module_from_text

COUNT = int(os.environ.get("XLAMIG_MUTATIONS", "300"))
SHARDS = 4
FIXTURES = Path(__file__).parents[2] / "fixtures"
STDLIB = Path(sysconfig.get_path("stdlib"))
GRADES: frozenset[Applicability] = frozenset({"safe", "unsafe"})


def sources() -> list[bytes]:
    folder = os.environ.get("XLAMIG_MUTATION_FILES")
    if folder:
        paths = sorted(path for path in Path(folder).rglob("*.py") if path.stat().st_size < 40_000)
    else:
        paths = sorted(FIXTURES.glob("XLA*/*/bad.py"))
        paths += [STDLIB / name for name in ("fractions.py", "contextlib.py", "stat.py", "types.py")]
    return [path.read_bytes() for path in paths]


def parses(text: str) -> bool:
    try:
        module_from_text(text)
    except Unparsable:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_damaged_file_is_checked_and_fixed(
    shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, data in enumerate(mutants(sources(), COUNT)):
        if number % SHARDS == shard:
            try:
                check_one(data)
            except BaseException as error:
                error.add_note(f"mutant {number}")
                raise


def check_one(data: bytes) -> None:
    given = Options(isolated=True, jobs=1, stdin=("a.py", data))
    outcome = engine.fix([Path("a.py")], given, GRADES, write=False)
    for finding in outcome.before.findings:
        assert 0 <= finding.place.start <= finding.place.end
    assert not outcome.before.rule_errors and not outcome.before.skipped
    if not outcome.files:
        return
    (file,) = outcome.files
    assert parses(file.old) and parses(file.new) and not outcome.after.rule_errors
    fixed = decode(data, "a.py").encoding
    again = Options(isolated=True, jobs=1, stdin=("a.py", file.new.encode(fixed)))
    assert not engine.fix([Path("a.py")], again, GRADES, write=False).files
