"""Who runs the jobs: processes on this machine, or a Ray cluster. Both call `scan.scan`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from xlamig.fleet.job import Job, Outcome
from xlamig.fleet.scan import scan

Engine = Callable[[Sequence[Job]], Generator[tuple[Job, Outcome], None, None]]
"""Gives outcomes as they come; closed before its end, it stops what still runs."""


def local(workers: int) -> Engine:
    """Each job in a process of its own, so many at a time; threads only wait for them."""

    def run(jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        stop = threading.Event()
        waiting = deque(jobs)
        running: dict[Future[Outcome], Job] = {}
        with ThreadPoolExecutor(workers) as pool:
            try:
                while waiting or running:
                    while waiting and len(running) < workers:
                        job = waiting.popleft()
                        running[pool.submit(scan, job, stop)] = job
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield running.pop(future), future.result()
            finally:
                stop.set()

    return run
