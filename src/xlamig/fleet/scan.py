"""One repository: source in, rows stored, outcome back. Every engine runs this same function.

The work is done in a process of its own, so that a repository that hangs, crashes or takes all
memory costs itself alone.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import xlamig
from xlamig.fleet import store
from xlamig.fleet.job import FAILED, Job, Outcome, Status
from xlamig.fleet.reading import SourceError, revision_of
from xlamig.fleet.resident import resident_megabytes
from xlamig.fleet.rows import error_row

_TRIES = 2  # for a process that is killed: whoever needed memory may have got it
_POLL = 0.1  # seconds


class Stopped(Exception):
    """The whole scan ends, and this repository with it."""


def scan(job: Job, stop: threading.Event | None = None) -> Outcome:
    """Scan one repository, or find that it has not changed. Raises Stopped."""
    started = time.monotonic()
    revision = ""
    try:
        revision = revision_of(job.source, job.limits.seconds or None)
        outcome = _carry_over(job, revision) or _scan_one(job, revision, stop or threading.Event())
    except SourceError as error:
        outcome = Outcome(job.source.name, "error", str(error))
    except Stopped:
        raise
    except OSError as error:
        where = f"{error.filename or job.out}: {error.strerror or error}"
        outcome = Outcome(job.source.name, "disk" if store.is_full(error) else "error", where)
    except Exception as error:  # one repository never stops a scan
        said = f"internal error, please report it: {type(error).__name__}: {error}"
        outcome = Outcome(job.source.name, "error", said)
    if outcome.status in FAILED:
        outcome = stored_failure(job, revision, outcome)
    return replace(outcome, seconds=round(time.monotonic() - started, 3))


def _carry_over(job: Job, revision: str) -> Outcome | None:
    known = job.known
    asked = (revision, job.settings, job.source.folder)
    if known is None or (known.revision, known.settings, known.folder) != asked:
        return None
    store.carry_over(job, known)
    return Outcome(job.source.name, "unchanged")


def stored_failure(job: Job, revision: str, outcome: Outcome) -> Outcome:
    """The outcome once the row that says it is stored."""
    try:
        row = error_row(job, revision, outcome.status, outcome.error)
        store.write(job, {"repositories": [row]})
    except OSError as error:
        return replace(outcome, status="disk", error=f"{job.out}: {os.strerror(error.errno or 0)}")
    return outcome


def _scan_one(job: Job, revision: str, stop: threading.Event) -> Outcome:
    """A killed process is tried once more; what takes too much time or memory would do so again."""
    with tempfile.TemporaryDirectory(prefix="xlamig-fleet-", ignore_cleanup_errors=True) as folder:
        for attempt in range(1, _TRIES + 1):
            scratch = Path(folder, str(attempt))
            scratch.mkdir()
            outcome = _Child(job, revision, scratch).watch(stop)
            if outcome.status != "killed":
                break
    return replace(outcome, attempts=attempt)


class _Child:
    """A process with a repository, in a group that ends as a whole."""

    def __init__(self, job: Job, revision: str, scratch: Path) -> None:
        self.job = job
        self.result = scratch / "result.json"
        self.said = scratch / "stderr"
        self.most = 0
        command = [sys.executable, "-P", "-m", "xlamig.fleet.child", str(self.result)]
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                env=_environment(),
                start_new_session=True,
            )
        assert self.process.stdin
        with suppress(BrokenPipeError):  # it has died, as will be seen
            self.process.stdin.write(pickle.dumps((job, revision, scratch)))
            self.process.stdin.flush()

    def watch(self, stop: threading.Event) -> Outcome:
        limits = self.job.limits
        started = time.monotonic()
        try:
            while self.process.poll() is None:
                if stop.is_set():
                    raise Stopped
                self.most = max(self.most, resident_megabytes(self.process.pid))
                if limits.megabytes and self.most > limits.megabytes:
                    return self._outcome("memory", f"it needs more than {limits.megabytes} MB of memory")
                if limits.seconds and time.monotonic() - started > limits.seconds:
                    return self._outcome("timeout", f"it takes longer than {limits.seconds:g} seconds")
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(_POLL)
        finally:
            self._end()
        return self._answer()

    def _answer(self) -> Outcome:
        code = self.process.returncode
        if code < 0:
            name = signal.Signals(-code).name
            return self._outcome("killed", f"its process was killed by {name}, {_TRIES} times")
        try:
            status, error = json.loads(self.result.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            lines = self.said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return self._outcome("error", f"its process ended: {lines[-1] if lines else f'exit code {code}'}")
        return self._outcome(status, error)

    def _outcome(self, status: Status, error: str) -> Outcome:
        return Outcome(self.job.source.name, status, error, megabytes=self.most)

    def _end(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.close()


def _environment() -> dict[str, str]:
    """The same modules as here, and none of the scanned repository's."""
    here = str(Path(xlamig.__file__).parents[1])
    paths = [path for path in sys.path if path and Path(path).is_absolute()]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([here, *paths]))}
