"""Running many jobs so that one that crashes, hangs or recurses without end costs itself alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.workers import Lost, Work, in_processes

__all__ = ["Lost", "Work", "run_all"]

Job = TypeVar("Job")
Result = TypeVar("Result")

_SMALL = 24  # below so many jobs, starting processes takes longer than the work
_CHUNK = 8
_CHUNK_HERE = 48  # a thread with a deep stack takes as long to start as a file to parse


def run_all(
    work: Work[Job, Result],
    jobs: Sequence[Job],
    processes: int,
    done: Callable[[int], None] | None = None,
) -> list[Result | Lost]:
    """The results in the order of `jobs`. `done` hears how many more are finished."""
    results: dict[int, Result | Lost] = {}
    risky = [i for i, job in enumerate(jobs) if work.risky(job)]
    safe = sorted(set(range(len(jobs))).difference(risky))
    alone = [[i] for i in risky]
    here = processes <= 1 or len(safe) < _SMALL
    size = _CHUNK_HERE if here else _CHUNK
    chunks = [safe[i : i + size] for i in range(0, len(safe), size)]
    apart = in_processes(work, jobs, alone if here else alone + chunks, processes)
    rest = _here(work, jobs, chunks if here else [])
    for index, result in chain(apart, rest):
        results[index] = result
        if done:
            done(1)
    return [results[i] for i in range(len(jobs))]


def _here(
    work: Work[Job, Result], jobs: Sequence[Job], chunks: Iterable[list[int]]
) -> Iterator[tuple[int, Result | Lost]]:
    for chunk in chunks:
        yield from zip(chunk, on_deep_stack(work, [jobs[i] for i in chunk]), strict=True)
