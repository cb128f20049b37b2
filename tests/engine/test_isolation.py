from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options, isolation, loader, workers
from xlamig.engine.isolation import Lost, Work, run_all
from xlamig.engine.load import Loaded, LoadJob, load

pytestmark = pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork", reason="functions of a test reach a worker only by fork"
)

PARENT = os.getpid()


def never(job: object) -> bool:
    return False


def negative(job: int) -> bool:
    return job < 0


def seventh(job: int) -> bool:
    return job == 7


def square(job: int) -> int:
    return job * job


def crash(job: int) -> int:
    if job == 7 and os.getpid() != PARENT:
        os._exit(3)
    return job * job


def killed(job: int) -> int:
    """As by the kernel, for memory."""
    if job == 7 and os.getpid() != PARENT:
        os.kill(os.getpid(), signal.SIGKILL)
    return job * job


def hang(job: int) -> int:
    if job == 7 and os.getpid() != PARENT:
        threading.Event().wait()
    return job * job


def recurse(job: int) -> int:
    return recurse(job) if job == 7 else job * job


def exhaust(job: int) -> int:
    if job == 7:
        raise MemoryError
    return job * job


def blunder(job: int) -> int:
    if job == 7:
        raise KeyError("x")
    return job * job


def deep(job: int) -> int:
    return 1 if job == 0 else 1 + sum(map(deep, [job - 1]))  # through C at every level


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_SMALL", 1)


@pytest.fixture(autouse=True)
def impatient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where something hangs: a busy machine may take its time over all else."""
    callspec = getattr(request.node, "callspec", None)
    if callspec and callspec.params.get("function") in (hang, endless):
        monkeypatch.setattr(workers, "SECONDS", 2.0)


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_results_in_order_and_progress(processes: int) -> None:
    jobs = list(range(-5, 50))
    told: list[int] = []
    assert run_all(Work(square, negative), jobs, processes, told.append) == [j * j for j in jobs]
    assert sum(told) == len(jobs)


@pytest.mark.parametrize("processes", [1, 2])
def test_no_jobs(processes: int) -> None:
    assert run_all(Work(square, never), [], processes) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (crash, "it crashes the parser"),
        (killed, "it crashes the parser"),
        (hang, "it takes longer than 2 seconds"),
        (recurse, "nested too deeply to be analysed"),
        (exhaust, "nested too deeply to be analysed"),
    ],
)
def test_the_one_at_fault_is_lost_and_nothing_else(function: Callable[[int], int], reason: str) -> None:
    results = run_all(Work(function, never), list(range(40)), 2)
    assert results[7] == Lost(reason)
    assert results[:7] + results[8:] == [i * i for i in range(40) if i != 7]


@pytest.mark.slow
@pytest.mark.parametrize("function", [crash, hang])
def test_a_risky_job_is_never_run_in_this_process(function: Callable[[int], int]) -> None:
    results = run_all(Work(function, seventh), list(range(10)), 1)
    assert isinstance(results[7], Lost) and results[9] == 81


@pytest.mark.parametrize("processes", [1, 2])
def test_recursion_has_room(processes: int) -> None:
    before = sys.getrecursionlimit()
    assert run_all(Work(deep, never), [5000] * 3, processes) == [5001] * 3
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("processes", [1, 2])
def test_a_mistake_of_ours_is_not_hidden(processes: int) -> None:
    results = run_all(Work(blunder, never), list(range(40)), processes)
    lost = [r for r in results if isinstance(r, Lost)]
    assert lost and all(r.ours and "KeyError" in r.reason for r in lost)
    assert not multiprocessing.active_children()


_TWO_WORKERS = """
import os, sys, threading
from xlamig.engine.workers import Work, in_processes

def stay(job):
    print(os.getpid(), flush=True)
    threading.Event().wait()

list(in_processes(Work(stay, bool), [1, 2], [[0], [1]], 2))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(number: int) -> None:
    parent = subprocess.Popen([sys.executable, "-c", _TWO_WORKERS], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() and parent.stdout.readline()
    parent.send_signal(number)
    assert parent.stdout.read() == ""  # returns when the last worker has closed its end
    parent.wait()


def deadly(job: LoadJob) -> Loaded:
    if "deadly" in job.text and os.getpid() != PARENT:
        os._exit(3)
    return load(job)


def endless(job: LoadJob) -> Loaded:
    if "deadly" in job.text and os.getpid() != PARENT:
        threading.Event().wait()
    return load(job)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "told"), [(deadly, "crashes"), (endless, "longer than")])
def test_a_file_that_kills_its_worker_is_reported_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Callable[[LoadJob], Loaded], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loader, "load", function)
    for i in range(30):
        Path(f"{i:02}.py").write_text("import torch\ntorch.cuda.synchronize()\n")
    Path("10.py").write_text("deadly = 1\n")
    report = engine.check([Path()], Options(isolated=True, jobs=2))
    findings = {finding.filename: finding for finding in report.findings}
    assert len(findings) == 30
    assert findings["10.py"].code == "XLA000" and told in findings["10.py"].message
    monkeypatch.setattr(loader, "load", load)
    assert "10.py" not in {f.filename for f in engine.check([Path()], Options(isolated=True)).findings}
