"""Whole scans: they end, say what is missing, and go on where they stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.fleet.conftest import run_cli
from tests.fleet.test_scan import files_below

from xlamig.engine import Options, UsageError
from xlamig.fleet import log, run, store
from xlamig.fleet.job import Job, Outcome, Source
from xlamig.fleet.rows import error_row
from xlamig.fleet.schema import TABLES

Results = Generator[tuple[Job, Outcome], None, None]


def asked(out: Path, count: int = 4, **values: object) -> run.Asked:
    sources = [Source(f"r{number}", f"/r{number}") for number in range(count)]
    return run.Asked(sources, out, "2026-01-01", Options(isolated=True), **values)  # type: ignore[arg-type]


def an_engine(outcome_of: Callable[[Job], Outcome], seen: list[str]) -> Callable[[Sequence[Job]], Results]:
    """Stores a row without scanning anything."""

    def engine(jobs: Sequence[Job]) -> Results:
        for job in jobs:
            seen.append(job.source.name)
            if job.known is not None:
                yield job, Outcome(job.source.name, "unchanged")
                continue
            outcome = outcome_of(job)
            if outcome.status == "ok":
                store.write(job, {"repositories": [error_row(job, "1", "ok", "")]})
            yield job, outcome

    return engine


def ignore(*arguments: object) -> None:
    pass


def test_a_full_disk_ends_the_scan_which_says_what_is_missing_and_resumes(tmp_path: Path) -> None:
    def full_at_r2(job: Job) -> Outcome:
        if job.source.name == "r2":
            return Outcome("r2", "disk", "/out: No space left on device")
        return Outcome(job.source.name, "ok")

    seen: list[str] = []
    done = run.run(asked(tmp_path), an_engine(full_at_r2, seen), ignore)
    assert seen == ["r0", "r1", "r2"]  # nothing that could not be stored is scanned
    assert done.missing == ["r2", "r3"]
    assert "No space left" in done.trouble
    assert log.asked_for(tmp_path, "2026-01-01") == ["r0", "r1", "r2", "r3"]
    done = run.run(asked(tmp_path), an_engine(lambda job: Outcome(job.source.name, "ok"), []), ignore)
    assert (done.count("unchanged"), done.count("ok"), done.missing) == (2, 2, [])


def test_an_interrupted_scan_resumes(tmp_path: Path) -> None:
    def interrupted(job: Job) -> Outcome:
        if job.source.name == "r3":
            raise KeyboardInterrupt
        return Outcome(job.source.name, "ok")

    done = run.run(asked(tmp_path), an_engine(interrupted, []), ignore)
    assert (done.trouble, done.missing) == ("interrupted", ["r3"])
    done = run.run(asked(tmp_path), an_engine(lambda job: Outcome(job.source.name, "ok"), []), ignore)
    assert (done.count("unchanged"), done.count("ok")) == (3, 1)


def test_a_failed_repository_is_tried_again(tmp_path: Path) -> None:
    run.run(asked(tmp_path), an_engine(lambda job: Outcome(job.source.name, "killed"), []), ignore)
    done = run.run(asked(tmp_path), an_engine(lambda job: Outcome(job.source.name, "ok"), []), ignore)
    assert done.count("ok") == 4


def test_other_settings_are_another_result(tmp_path: Path) -> None:
    same = run.digest_of(Options(isolated=True))
    assert run.digest_of(Options({"cache-dir": "/elsewhere"}, isolated=True)) == same
    assert run.digest_of(Options({"target": "torch_tpu"}, isolated=True)) != same
    assert run.digest_of(Options({"ignore": ["XLA101"]}, isolated=True)) != same


def test_rescan_knows_nothing(tmp_path: Path) -> None:
    engine = an_engine(lambda job: Outcome(job.source.name, "ok"), [])
    run.run(asked(tmp_path), engine, ignore)
    assert run.run(asked(tmp_path, rescan=True), engine, ignore).count("ok") == 4


def test_one_scan_at_a_time_writes_to_a_folder(tmp_path: Path) -> None:
    with (
        store.open_store(tmp_path),
        pytest.raises(UsageError, match="another scan"),
        store.open_store(tmp_path),
    ):
        pass


def test_half_written_files_of_a_killed_scan_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".part").mkdir()
    (tmp_path / ".part" / "findings-x").write_text("half")
    with store.open_store(tmp_path):
        assert not (tmp_path / ".part").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scan", "-o", "x"), "Missing argument"),
        (("scan", "."), "Missing option"),
        (("scan", "/no/such", "-o", "x"), "no such file or folder: '/no/such'"),
        (("scan", ".", "-o", "x", "--date", "tomorrow"), "expected a date such as"),
        (("scan", ".", "-o", "x", "--address", "auto"), "--address needs --engine ray"),
        (("scan", ".", "-o", "x", "--select", "XLA999"), "unknown rule"),
        (("scna",), 'did you mean "scan"'),
    ],
)
def test_wrong_usage_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import torch\n")
    result = run_cli(*arguments)
    assert result.exit_code in (1, 2)
    assert said in result.output


def test_a_scan_gives_the_five_tables(scanned: Path) -> None:
    def rows(columns: str, table: str, condition: str = "true") -> list[tuple[Any, ...]]:
        files = f"'{scanned}/{table}/scan_date=2026-01-01/*.parquet'"
        return duckdb.sql(f"SELECT {columns} FROM {files} WHERE {condition}").fetchall()

    assert set(TABLES) == {path.parent.name for path in scanned.glob("*/scan_date=2026-01-01")}
    found = dict(rows("name, status", "repositories"))
    assert found == {"trainer": "ok", "acme-ops": "ok", "docs": "ok", "gone": "error"}
    ((findings,),) = rows("count(*)", "findings", "repository = 'trainer'")
    assert rows("findings", "repositories", "name = 'trainer'") == [(findings,)]
    assert rows("kernel, kind, lines", "kernels") == [("scale", "cuda", 3)]
    needed = rows("package", "packages", "repository = 'trainer' AND via <> 'own'")
    assert {name for (name,) in needed} == {"torch", "acme-ops"}
    ((saved,),) = rows("hours_saved", "packages", "package = 'flash-attn' AND via = 'rule'")
    assert saved > 0
    assert rows("sum(likely_hours)", "repositories")[0] == pytest.approx(
        rows("sum(likely_hours)", "plans")[0]
    )


def test_the_second_scan_has_everything_again(scanned: Path) -> None:
    files = files_below(scanned)
    for table in ("findings", "packages", "kernels", "plans"):
        for name in ("2026-01-01", "2026-02-01"):
            assert any(path.startswith(f"{table}/scan_date={name}/acme-ops") for path in files), table
    assert not any("docs" in path and "2026-02-01" in path for path in files)


@pytest.mark.slow
def test_rows_depend_on_no_engine_folder_or_number_of_workers(
    mirrors: Path, scanned: Path, tmp_path: Path
) -> None:
    result = run_cli("scan", mirrors / "acme-ops.git", "-o", tmp_path, "--date", "2026-01-01", "--isolated",
                     "-n", "-j", "3", "--cores", "2")  # fmt: skip
    assert result.exit_code == 0, result.output
    before = {path: data for path, data in files_below(scanned).items() if "2026-01-01/acme-ops" in path}
    assert files_below(tmp_path) == before
    assert before


@pytest.mark.slow
def test_paths_are_those_of_the_caller_and_nothing_is_written_to_a_scanned_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "a.py").write_text("import torch\ntorch.cuda.synchronize()\n")
    (tmp_path / "ours.toml").write_text('ignore = ["ALL"]\n')
    monkeypatch.chdir(tmp_path)
    result = run_cli("scan", "it", "-o", "out", "--config", "ours.toml", "--cache-dir", "cache")
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "it").iterdir()] == ["a.py"]
    assert (tmp_path / "cache").is_dir()
    assert run_cli("query", "SELECT findings FROM repositories", "out").stdout.split() == ["findings", "0"]
