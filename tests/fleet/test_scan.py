"""One repository: whatever happens to it is a row, and costs no other."""

from __future__ import annotations

import errno
import os
import pickle
import sys
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.fleet.conftest import REPOSITORIES, commit, mirror

from xlamig.fleet import child, scan, store
from xlamig.fleet.job import Job, Known, Limits, Outcome, Source


def a_job(folder: Path, location: Path, **values: object) -> Job:
    isolated = {"isolated": True, "overrides": {"cache-dir": (folder / "cache").as_posix()}}
    source = Source("it", location.as_posix())
    return Job(source, folder / "out", "2026-01-01", "settings", **{**isolated, **values})  # type: ignore[arg-type]


def the_row(job: Job) -> dict[str, object]:
    (path,) = store.partition(job.out, "repositories", job.date).iterdir()
    (row,) = parquet.read_table(path, partitioning=None).to_pylist()
    return dict(row)


def files_below(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*.parquet") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    commit(tmp_path / "tree", REPOSITORIES["trainer"])
    return mirror(tmp_path / "tree", tmp_path / "it.git")


def fake_python(folder: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str = "") -> None:
    """An interpreter that does `first`, and `then` when it is started again."""
    path = folder / "python"
    path.write_text(
        f'#!/bin/sh\nif [ -e "{folder}/again" ]; then {then or first}; fi\ntouch "{folder}/again"\n{first}\n'
    )
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


@pytest.mark.parametrize(
    ("limits", "status", "error"),
    [
        (Limits(seconds=0.01), "timeout", "it takes longer than 0.01 seconds"),
        (Limits(megabytes=1), "memory", "it needs more than 1 MB of memory"),
    ],
)
def test_a_limit_gives_a_row_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits, status: str, error: str
) -> None:
    (tmp_path / "it").mkdir()
    fake_python(tmp_path, monkeypatch, f'exec "{sys.executable}" -c "input(); import time; time.sleep(600)"')
    job = a_job(tmp_path, tmp_path / "it", limits=limits)
    assert scan.scan(job).status == status
    row = the_row(job)
    assert (row["status"], row["error"], row["verdict"]) == (status, error, None)


def test_a_killed_process_is_tried_again_and_then_a_row(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, "kill -9 $$")
    job = a_job(tmp_path, repository)
    outcome = scan.scan(job)
    assert (outcome.status, outcome.attempts) == ("killed", 2)
    assert the_row(job)["error"] == "its process was killed by SIGKILL, 2 times"


def test_a_process_that_only_fails_is_a_row_with_its_last_line(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, "echo first >&2; echo last words >&2; exit 3")
    job = a_job(tmp_path, repository)
    assert scan.scan(job).status == "error"
    assert the_row(job)["error"] == "its process ended: last words"


@pytest.mark.slow
def test_a_process_killed_once_costs_nothing(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(tmp_path, monkeypatch, "kill -9 $$", then=f'exec "{sys.executable}" "$@"')
    job = a_job(tmp_path, repository)
    outcome = scan.scan(job)
    assert (outcome.status, outcome.attempts) == ("ok", 2)
    assert the_row(job)["findings"]
    assert len(pickle.dumps(outcome)) < 500  # all that the driver gets, whatever is found


@pytest.mark.slow
def test_files_that_need_processes_of_their_own_are_scanned(tmp_path: Path) -> None:
    nested = "x = " + "[" * 95 + "]" * 95 + "\n"
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "train.py").write_text(f"import torch\n{nested}torch.cuda.synchronize()\n")
    job = a_job(tmp_path, tmp_path / "it", limits=Limits(seconds=300))
    assert scan.scan(job).status == "ok"
    assert the_row(job)["findings"]


def test_a_source_that_is_gone_is_a_row(tmp_path: Path) -> None:
    job = a_job(tmp_path, tmp_path / "gone")
    assert scan.scan(job).status == "error"
    assert the_row(job)["error"] == f"no such folder: {tmp_path}/gone"


def test_a_broken_configuration_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "xlamig.toml").write_text("traget = 1\n")
    job = a_job(tmp_path, tmp_path / "it", isolated=False)
    monkeypatch.chdir(tmp_path)
    status, error = child.scan_here(job, "files:1", tmp_path)
    assert status == "error"
    assert "traget" in error


def no_space(*arguments: object, **values: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_row_and_is_no_error_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "it", {"a.py": "x = 1\n"})
    job = a_job(tmp_path, tmp_path / "it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(store.parquet, "write_table", no_space)
    assert child.scan_here(job, "1", tmp_path)[0] == "disk"
    assert scan.stored_failure(job, "1", Outcome("it", "timeout")).status == "disk"
    assert not files_below(job.out)


def test_a_write_that_fails_half_way_leaves_the_repository_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job(tmp_path, tmp_path)
    rows = {
        "repositories": [{"name": "it", "status": "ok", "schema_version": "1.0"}],
        "findings": [{"code": "XLA001"}],
    }
    store.write(job, rows)
    assert store.latest_results(job.out, ["it"]).keys() == {"it"}
    whole, write_table = files_below(job.out), store.parquet.write_table

    def fails_at_the_last(table: object, path: Path, **values: object) -> None:
        (no_space if "repositories" in path.name else write_table)(table, path, **values)

    monkeypatch.setattr(store.parquet, "write_table", fails_at_the_last)
    with pytest.raises(OSError, match="No space"):
        store.write(job, rows)
    assert store.latest_results(job.out, ["it"]) == {}
    assert not list((job.out / ".part").iterdir())
    monkeypatch.undo()
    store.write(job, rows)
    assert files_below(job.out) == whole


def test_a_damaged_file_of_results_is_as_good_as_none(tmp_path: Path) -> None:
    job = a_job(tmp_path, tmp_path)
    store.write(job, {"repositories": [{"name": "it", "status": "ok", "schema_version": "1.0"}]})
    (path,) = store.partition(job.out, "repositories", job.date).iterdir()
    path.write_bytes(path.read_bytes()[:30])
    assert store.latest_results(job.out, ["it"]) == {}


def test_an_unchanged_revision_is_not_scanned_again(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_job(tmp_path, repository)
    head = scan.revision_of(job.source)
    row = {"name": "it", "status": "ok", "revision": head, "folder": "", "gpu": "", "schema_version": "1.0"}
    store.write(job, {"repositories": [row], "findings": [{"repository": "it", "code": "XLA001"}]})
    fake_python(tmp_path, monkeypatch, "exit 1")
    source = Source("it", repository.as_posix(), gpu="a100", gpu_hours=7.0)
    known = Known("2026-01-01", head, "settings")
    later = Job(source, job.out, "2026-02-01", "settings", known=known)
    assert scan.scan(later).status == "unchanged"
    assert the_row(later)["gpu_hours"] == 7.0
    assert len(list(store.partition(job.out, "findings", later.date).iterdir())) == 1
    others = (("other", "settings", ""), (head, "other", ""), (head, "settings", "sub"))
    for other in (Known("2026-01-01", *made_from) for made_from in others):
        changed = Job(source, job.out, "2026-02-01", "settings", known=other)
        assert scan.scan(changed).status == "error"
