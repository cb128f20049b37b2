"""The jobs as tasks of a Ray cluster. The folder of the results must be the same on all its nodes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Sequence

import ray
from ray.exceptions import RayError

from xlamig.engine import UsageError
from xlamig.fleet.engines import Engine
from xlamig.fleet.job import Job, Outcome
from xlamig.fleet.scan import scan, stored_failure

_RETRIES = 2  # of a task whose worker or node is lost
_AHEAD = 2  # tasks handed out per core of the cluster


def on_ray(address: str | None, workers: int, cores: int) -> Engine:
    """Each job is a task; without an address the cluster is this machine, with so many `workers`."""

    def run(jobs: Sequence[Job]) -> Generator[tuple[Job, Outcome], None, None]:
        _connect(address, workers * cores)
        try:
            yield from _run(jobs, cores)
        finally:
            ray.shutdown()

    return run


def _connect(address: str | None, cores: int) -> None:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        if address is None:
            ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="warning")
        else:
            ray.init(address=address, log_to_driver=False, logging_level="warning")
    except (ConnectionError, RayError, ValueError) as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None


def _run(jobs: Sequence[Job], cores: int) -> Generator[tuple[Job, Outcome], None, None]:
    task = ray.remote(num_cpus=cores, max_retries=_RETRIES)(scan)
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
