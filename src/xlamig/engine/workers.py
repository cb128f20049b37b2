"""Processes that are given chunks of jobs and may be lost. A chunk whose process dies or hangs is
given out again job by job, so that the one at fault is known."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

from xlamig.engine.big_stack import on_deep_stack

Job = TypeVar("Job")
Result = TypeVar("Result")

SECONDS = 60.0
"""How long a process may take for one chunk."""


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a result: what the job did to its process. `ours`: the mistake is xlamig's."""

    reason: str
    ours: bool = False


def _never(job: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Work(Generic[Job, Result]):
    """`function` must be picklable; a `risky` job is one that may kill its process."""

    function: Callable[[Job], Result]
    risky: Callable[[Job], bool] = _never

    def __call__(self, jobs: Sequence[Job]) -> list[Result | Lost]:
        return [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Result | Lost:
        try:
            return self.function(job)
        except (RecursionError, MemoryError):
            return Lost("nested too deeply to be analysed")
        except Exception as error:
            return Lost(f"internal error, please report it: {type(error).__name__}: {error}", ours=True)


def start_cleanly() -> None:
    """Start processes from a clean one from now on: a copy of a process that has threads may hang."""
    multiprocessing.set_start_method("forkserver", force=True)
    multiprocessing.set_forkserver_preload(["xlamig.engine.judging", "xlamig.syntax"])


def in_processes(
    work: Work[Job, Result], jobs: Sequence[Job], chunks: Sequence[list[int]], processes: int
) -> Iterator[tuple[int, Result | Lost]]:
    """Index and result of every job in `chunks`, as they come."""
    if not chunks:
        return
    from pebble import ProcessPool  # takes long to import, and small runs need no processes

    given: dict[Future[list[Result | Lost]], list[int]] = {}
    finished: SimpleQueue[Future[list[Result | Lost]]] = SimpleQueue()
    with ProcessPool(min(processes, len(chunks)), initializer=_watch_parent) as pool:

        def give(chunk: list[int]) -> None:
            future = pool.schedule(on_deep_stack, [work, [jobs[i] for i in chunk]], timeout=SECONDS)
            given[future] = chunk
            future.add_done_callback(finished.put)

        try:
            for chunk in chunks:
                give(chunk)
            while given:
                future = finished.get()
                chunk, answer = given.pop(future), _answer(future)
                if isinstance(answer, list):
                    yield from zip(chunk, answer, strict=True)
                elif len(chunk) == 1:
                    yield chunk[0], answer
                else:
                    for index in chunk:
                        give([index])
        finally:
            pool.stop()  # type: ignore[no-untyped-call]  # pebble annotates its arguments only


def _answer(future: Future[list[Result | Lost]]) -> list[Result | Lost] | Lost:
    from pebble import ProcessExpired

    try:
        return future.result()
    except TimeoutError:
        return Lost(f"it takes longer than {SECONDS:.0f} seconds")
    except ProcessExpired:
        return Lost("it crashes the parser")


def _watch_parent() -> None:
    """End this process with its parent. Its pipe does not close then: a neighbour may hold it open."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
