"""Measures subjects in processes of their own: a crash or a hang costs one call, and what is done is kept."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

LATE = "no answer in"
GRADIENT = " gradient"  # after the name of a call
SECONDS = 150  # for one call, on a busy machine
PATIENCE = 2  # such calls, before the rest is not tried

Record = dict[str, Any]
Work = Callable[[set[str]], Iterable[Record]]  # given what is done, yields records with a `call`


class Pool:
    """`run(key, work)` as many times as wanted, then `finish()`; each has a file in `cache`. Complete work
    is not run again, or with `again` asked once more for what it has not recorded yet."""

    def __init__(self, cache: Path, size: int, again: bool = False) -> None:
        self._cache = cache
        self._again = again
        self._size = size
        self._running: dict[int, _Job] = {}
        cache.mkdir(parents=True, exist_ok=True)

    def run(self, key: str, work: Work) -> None:
        job = _Job(key, work, self._cache / (_name(key) + ".jsonl"))
        if job.complete:
            if not self._again or "lost" in job.records[-1]:
                return
            job.reopen()
        while len(self._running) >= self._size:
            self._wait()
        self._start(job)

    def forget(self, key: str) -> None:
        for path in self._cache.glob(_name(key) + ".*"):
            path.unlink()

    def records(self, key: str) -> list[Record]:
        return joined(_Job(key, lambda done: (), self._cache / (_name(key) + ".jsonl")).records)

    def finish(self) -> None:
        while self._running:
            self._wait()

    def _start(self, job: _Job) -> None:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            job.child()
        self._running[child] = job

    def _wait(self) -> None:
        time.sleep(0.01)
        for child, job in list(self._running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and job.idle() > SECONDS:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                job.lost(f"{LATE} {SECONDS} s")
            elif not ended:
                continue
            elif status:
                job.lost(f"the process died of signal {status & 127}")
            del self._running[child]
            if not job.complete:
                self._start(job)


def joined(records: Iterable[Record]) -> list[Record]:
    """One record per call: a gradient goes to its result, as an error if it was lost."""
    found: dict[str, Record] = {}
    for record in records:
        call = record.get("call", "")
        result = found.get(call.removesuffix(GRADIENT))
        if call.endswith(GRADIENT) and result is not None:
            lost = {"status": "error", "error": record.get("lost", "")}
            result["backward"] = record.get("backward", lost)
        else:
            found[call] = dict(record)
    return list(found.values())


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:20]


class _Job:
    def __init__(self, key: str, work: Work, path: Path) -> None:
        self.key, self._work, self._path = key, work, path
        self._current = path.with_suffix(".current")
        self._begun = time.monotonic()

    @property
    def records(self) -> list[Record]:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def complete(self) -> bool:
        records = self.records
        return bool(records) and "complete" in records[-1]

    def reopen(self) -> None:
        kept = [record for record in self.records if "complete" not in record]
        self._path.write_text("".join(json.dumps(record) + "\n" for record in kept))

    def idle(self) -> float:
        changed = max((p.stat().st_mtime for p in (self._path, self._current) if p.exists()), default=0.0)
        return min(time.time() - changed, time.monotonic() - self._begun)

    def lost(self, why: str) -> None:
        """The call in flight gets the blame; the next process goes on after it."""
        current = self._current.read_text() if self._current.exists() else ""
        done = {record.get("call") for record in self.records}
        if not current or current in done:
            self._write({"complete": True, "lost": why})
        else:
            self._write({"call": current, "lost": why})
            late = sum(record.get("lost", "").startswith(LATE) for record in self.records)
            if late >= PATIENCE:
                self._write({"complete": True, "lost": why})
        self._begun = time.monotonic()

    def child(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            for record in self._work({record.get("call", "") for record in self.records}):
                if set(record) == {"call"}:
                    self._current.write_text(record["call"])
                else:
                    self._write(record)
            self._write({"complete": True})
        except BaseException as error:
            self._write({"complete": True, "lost": f"{type(error).__name__}: {error}"[:300]})
        os._exit(0)

    def _write(self, record: Record) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(record, default=str) + "\n")
