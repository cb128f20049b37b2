"""The jobs as tasks of a Ray cluster. The folder of the results must be the same on all its nodes."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Generator, Sequence

import ray
from ray.exceptions import RayError

from xlamig.engine import UsageError
from xlamig.fleet.engines import Engine
from xlamig.fleet.job import Job, Outcome
from xlamig.fleet.scan import scan, stored_failure

_RETRIES = 2  # of a task whose worker or node is lost
_PATIENCE = 10  # seconds
_AHEAD = 2  # tasks handed out per core of the cluster


def on_ray(address: str | None, workers: int, cores: int) -> Engine:
    """Each job is a task; without an address the cluster is this machine, with so many `workers`."""

    def run(jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        connect(address, workers * cores)
        try:
            yield from hand_out(scan, jobs, cores)
        finally:
            ray.shutdown()

    return run


def connect(address: str | None, cores: int) -> None:
    """Raises UsageError where there is no such cluster."""
    try:
        if address is None:
            ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="warning")
        else:
            _reach(address)
            ray.init(address=address, log_to_driver=False, logging_level="warning")
    except (OSError, RayError, ValueError) as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None


def _reach(address: str) -> None:
    """Raises OSError where nobody listens: Ray itself would try for minutes, and end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()


def hand_out(
    function: Callable[[Job], Outcome], jobs: Sequence[Job], cores: int
) -> Generator[tuple[Job, Outcome], None, None]:
    """Outcomes as they come. Never more tasks wait than the cluster can soon run, so that little is lost
    when the scan is stopped."""
    task = ray.remote(num_cpus=cores, max_retries=_RETRIES)(function)
    waiting = deque(jobs)
    running: dict[ray.ObjectRef, Job] = {}
    while waiting or running:
        most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)) // cores)
        while waiting and len(running) < most:
            job = waiting.popleft()
            running[task.remote(job)] = job
        done, _ = ray.wait(list(running))
        for reference in done:
            job = running.pop(reference)
            yield job, _outcome(job, reference)


def _outcome(job: Job, reference: ray.ObjectRef) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except RayError as error:
        lost = f"its Ray worker was lost, {_RETRIES + 1} times ({type(error).__name__})"
        return stored_failure(job, "", Outcome(job.source.name, "killed", lost))
    return outcome
