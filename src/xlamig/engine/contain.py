"""Running many jobs so that one that crashes, hangs or recurses without end costs itself alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

SECONDS = 60.0
"""How long a process may take for what it was given last."""

_SMALL = 24  # below so many jobs, starting processes takes longer than the work
_CHUNK = 8
_STACK = 512 * 1024 * 1024  # address space, not memory: for parsers that recurse natively
_RECURSION = 40_000


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a result: the process that worked on it died or ran out of time."""

    reason: str


_TOO_DEEP = Lost("nested too deeply to be analysed")


@dataclass(frozen=True, slots=True)
class Work(Generic[Job, Result]):
    """`function` must be picklable; a `risky` job is one that may kill its process."""

    function: Callable[[Job], Result]
    risky: Callable[[Job], bool]

    def __call__(self, jobs: Sequence[Job]) -> list[Result | Lost]:
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Result | Lost:
        try:
            return self.function(job)
        except (RecursionError, MemoryError):
            return _TOO_DEEP


def run_all(
    work: Work[Job, Result],
    jobs: Sequence[Job],
    processes: int,
    done: Callable[[int], None] | None = None,
) -> list[Result | Lost]:
    """The results in the order of `jobs`. `done` is told how many more are finished."""
    results: dict[int, Result | Lost] = {}
    risky = [i for i, job in enumerate(jobs) if work.risky(job)]
    apart = set(risky)
    safe = [i for i in range(len(jobs)) if i not in apart]
    chunks = [safe[i : i + _CHUNK] for i in range(0, len(safe), _CHUNK)]
    alone = [[i] for i in risky]
    if processes > 1 and len(safe) >= _SMALL:
        pairs = _in_processes(work, jobs, alone + chunks, processes)
    else:
        pairs = _here(work, jobs, chunks, _in_processes(work, jobs, alone, processes))
    for index, result in pairs:
        results[index] = result
        if done:
            done(1)
    return [results[i] for i in range(len(jobs))]


def _here(
    work: Work[Job, Result],
    jobs: Sequence[Job],
    chunks: Iterable[list[int]],
    first: Iterator[tuple[int, Result | Lost]],
) -> Iterator[tuple[int, Result | Lost]]:
    yield from first
    for chunk in chunks:
        yield from zip(chunk, on_deep_stack(work, [jobs[i] for i in chunk]), strict=True)


def on_deep_stack(function: Callable[..., Result], *args: Any) -> Result:
    """Call it where recursion has room, for native code too."""
    results: list[Result] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(function(*args))
        except BaseException as error:
            failures.append(error)

    thread = _deep_thread(target)
    recursion = sys.getrecursionlimit()
    sys.setrecursionlimit(max(recursion, _RECURSION))
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(recursion)
    if failures:
        raise failures[0]
    return results[0]


def _deep_thread(target: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        return thread
    finally:
        threading.stack_size(before)
