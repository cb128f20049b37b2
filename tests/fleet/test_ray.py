"""The same scan as tasks of a Ray cluster of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.fleet.conftest import REPOSITORIES, commit, mirror, run_cli
from tests.fleet.test_scan import files_below

from xlamig.fleet.job import Job, Outcome, Source

pytest.importorskip("ray")
pytestmark = pytest.mark.slow


def scan(listed: Path, out: Path, *arguments: str) -> str:
    result = run_cli(
        "scan", listed, "-o", out, "--date", "2026-01-01", "--isolated", "-n", "-j", "2", *arguments
    )
    assert result.exit_code in (0, 1), result.output
    return result.output


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Three mirrors, one that is damaged and one that is not there."""
    for name, files in REPOSITORIES.items():
        commit(tmp_path / name, files)
        mirror(tmp_path / name, tmp_path / "all" / f"{name}.git")
    damaged = mirror(tmp_path / "docs", tmp_path / "all" / "damaged.git")
    (damaged / "packed-refs").unlink(missing_ok=True)
    (damaged / "refs" / "heads" / "main").write_text("0" * 39 + "1\n")
    path = tmp_path / "fleet.txt"
    names = [*(f"all/{name}.git" for name in REPOSITORIES), "all/damaged.git", "all/gone.git"]
    path.write_text("\n".join(names) + "\n")
    return path


def test_ray_stores_the_same_bytes(listed: Path, tmp_path: Path) -> None:
    scan(listed, tmp_path / "here")
    told = scan(listed, tmp_path / "there", "--engine", "ray")
    assert "3 scanned, 0 unchanged, 2 failed" in told
    assert files_below(tmp_path / "there") == files_below(tmp_path / "here")
    assert "3 unchanged" in scan(listed, tmp_path / "there", "--engine", "ray")


def test_a_lost_worker_costs_its_task_a_try(tmp_path: Path) -> None:
    import ray

    from xlamig.fleet import on_ray

    marker = tmp_path / "marker"

    def die_once(job: Job) -> Outcome:
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(job.source.name, "ok")

    def always_die(job: Job) -> Outcome:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    jobs = [Job(Source(name, "/gone"), tmp_path / "out", "2026-01-01", "") for name in "ab"]
    on_ray.connect(None, 2)
    try:
        again = [outcome.status for _, outcome in on_ray.hand_out(die_once, jobs, 1)]
        (lost,) = (outcome for _, outcome in on_ray.hand_out(always_die, jobs[:1], 1))
    finally:
        ray.shutdown()
    assert again == ["ok", "ok"]
    assert (lost.status, "its Ray worker was lost, 3 times" in lost.error) == ("killed", True)
    assert files_below(tmp_path / "out").keys() == {"repositories/scan_date=2026-01-01/a-ca978112.parquet"}


def test_says_that_there_is_no_cluster(tmp_path: Path) -> None:
    result = run_cli("scan", tmp_path, "-o", tmp_path / "out", "--engine", "ray", "--address", "127.0.0.1:1")
    assert "no Ray cluster at 127.0.0.1:1" in result.output
