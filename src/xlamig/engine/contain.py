"""Running many jobs so that one that crashes or hangs costs itself alone."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

ALONE_SECONDS = 60.0
"""How long a job may take in a process of its own."""

_SMALL = 24  # below so many jobs, starting processes takes longer than the work
_CHUNK = 8
_STACK = 512 * 1024 * 1024  # address space, not memory: for parsers that recurse natively


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a result: the process that worked on it died or ran out of time."""

    reason: str


@dataclass(frozen=True, slots=True)
class Work(Generic[Job, Result]):
    """`function` must be picklable; a `risky` job is one that may kill its process."""

    function: Callable[[Job], Result]
    risky: Callable[[Job], bool]

    def __call__(self, jobs: Sequence[Job]) -> list[Result]:
        return [self.function(job) for job in jobs]


def run_all(
    work: Work[Job, Result],
    jobs: Sequence[Job],
    processes: int,
    done: Callable[[int], None] | None = None,
) -> list[Result | Lost]:
    """The results in the order of `jobs`. `done` is told how many more are finished."""
    results: list[Result | Lost | None] = [None] * len(jobs)
    safe = [i for i, job in enumerate(jobs) if not work.risky(job)]
    pairs = (
        _parallel(work, jobs, safe, processes) if _worth(processes, len(safe)) else _serial(work, jobs, safe)
    )
    for index, result in pairs:
        results[index] = result
        if done:
            done(1)
    for index, job in enumerate(jobs):
        if results[index] is None:
            results[index] = _alone(work.function, job)
            if done:
                done(1)
    return [r for r in results if r is not None]


def _serial(work: Work[Job, Result], jobs: Sequence[Job], wanted: list[int]) -> Iterator[tuple[int, Result]]:
    for index in wanted:
        yield index, work.function(jobs[index])


def _parallel(
    work: Work[Job, Result], jobs: Sequence[Job], wanted: list[int], processes: int
) -> Iterator[tuple[int, Result]]:
    """Chunks in a pool; those lost with a dead worker are left to be run alone."""
    chunks = [wanted[i : i + _CHUNK] for i in range(0, len(wanted), _CHUNK)]
    with ProcessPoolExecutor(min(processes, len(chunks))) as pool:
        futures: dict[Future[list[Result]], list[int]] = {
            pool.submit(work, [jobs[i] for i in chunk]): chunk for chunk in chunks
        }
        for future in as_completed(futures):
            try:
                yield from zip(futures[future], future.result(), strict=True)
            except BrokenProcessPool:
                continue


def _alone(function: Callable[[Job], Result], job: Job) -> Result | Lost:
    pool = ProcessPoolExecutor(1, initializer=_deep_stack)
    try:
        return pool.submit(_on_deep_stack, function, job).result(ALONE_SECONDS)
    except BrokenProcessPool:
        return Lost("it crashes the parser")
    except FutureTimeout:
        for process in multiprocessing.active_children():
            process.kill()
        return Lost(f"it takes longer than {ALONE_SECONDS:.0f} seconds")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _deep_stack() -> None:
    threading.stack_size(_STACK)


def _on_deep_stack(function: Callable[[Job], Result], job: Job) -> Result:
    results: list[Result] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(function(job))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
