"""Processes that are given chunks of jobs and may be lost. A chunk whose process dies or hangs is
given out again job by job, so that the one at fault is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from xlamig.engine.deep import on_deep_stack

Job = TypeVar("Job")
Result = TypeVar("Result")

SECONDS = 60.0
"""How long a process may take for one chunk."""


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a result: what the job did to its process. `ours`: the mistake is xlamig's."""

    reason: str
    ours: bool = False


@dataclass(frozen=True, slots=True)
class _Mistake:
    """An exception of ours in a worker; not every exception can be pickled."""

    line: str
    trace: str


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
            return Lost("nested too deeply to be analysed")
        except Exception as error:
            return Lost(f"internal error, please report it: {type(error).__name__}: {error}", ours=True)


class _Worker(Generic[Job, Result]):
    """A process and the chunk it works on: indices of jobs."""

    def __init__(self, work: Work[Job, Result]) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_serve, args=(work, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.chunk: list[int] = []
        self.deadline = 0.0

    def give(self, chunk: list[int], jobs: Sequence[Job]) -> None:
        self.chunk = chunk
        self.deadline = time.monotonic() + SECONDS
        with suppress(OSError):  # it has died meanwhile, as its answer will tell
            self.connection.send([jobs[i] for i in chunk])

    def answer(self) -> list[Result | Lost] | Lost:
        try:
            if not self.connection.poll():
                return Lost(f"it takes longer than {SECONDS:.0f} seconds")
            answer: list[Result | Lost] | _Mistake = self.connection.recv()
        except (EOFError, OSError):
            return Lost("it crashes the parser")
        if isinstance(answer, _Mistake):
            error = RuntimeError(answer.line)
            error.add_note(answer.trace)
            raise error
        return answer

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def start_cleanly() -> None:
    """Start processes from a clean one from now on: a copy of a process that has threads may hang."""
    multiprocessing.set_start_method("forkserver", force=True)
    multiprocessing.set_forkserver_preload(["xlamig.engine.judging", "xlamig.syntax"])


def in_processes(
    work: Work[Job, Result], jobs: Sequence[Job], chunks: Sequence[list[int]], processes: int
) -> Iterator[tuple[int, Result | Lost]]:
    """Index and result of every job in `chunks`, as they come."""
    waiting = deque(chunks)
    idle: list[_Worker[Job, Result]] = []
    busy: list[_Worker[Job, Result]] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < processes:
                busy.append(idle.pop() if idle else _Worker(work))
                busy[-1].give(waiting.popleft(), jobs)
            for worker in _finished(busy):
                answer, chunk = worker.answer(), worker.chunk
                busy.remove(worker)
                if isinstance(answer, list):
                    idle.append(worker)
                    yield from zip(chunk, answer, strict=True)
                    continue
                worker.kill()
                if len(chunk) == 1:
                    yield chunk[0], answer
                else:
                    waiting.extend([index] for index in chunk)
    finally:
        for worker in busy + idle:
            worker.kill()


def _finished(busy: Sequence[_Worker[Job, Result]]) -> list[_Worker[Job, Result]]:
    """Those with an answer, those that died, and those out of time; waits for the first."""
    patience = min(worker.deadline for worker in busy) - time.monotonic()
    ready = wait([worker.connection for worker in busy], max(0.0, patience))
    now = time.monotonic()
    return [worker for worker in busy if worker.connection in ready or worker.deadline <= now]


def _serve(work: Work[Job, Result], connection: Connection) -> None:
    """The life of a worker: it ends with its parent, and Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        answer: list[Result | Lost] | _Mistake
        try:
            jobs = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = on_deep_stack(work, jobs)
        except Exception as error:
            answer = _Mistake(f"{type(error).__name__}: {error}", traceback.format_exc())
        connection.send(answer)


def _end_with_parent() -> None:
    """A worker may hold the other end of its neighbour's pipe, so that no pipe tells it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
