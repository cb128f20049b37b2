"""A probe in a process of its own that may die or hang: results are JSON lines, and it goes on after them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def results(path: Path) -> dict[str, dict[str, Any]]:
    """Return the results of a probe, by key. A line cut off by a crash is left out."""
    found: dict[str, dict[str, Any]] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[row["key"]] = row
    return found


def work(path: Path, jobs: Iterator[tuple[str, Callable[[], dict[str, Any]]]]) -> None:
    """In the worker: does the jobs that have no result yet."""
    done = results(path)
    current = path.with_suffix(".current")
    with path.open("a", encoding="utf-8") as file:
        for key, job in jobs:
            if key in done:
                continue
            current.write_text(key, "utf-8")
            started = time.monotonic()
            row = job()
            print(
                json.dumps({"key": key, **row, "seconds": round(time.monotonic() - started, 2)}),
                file=file,
                flush=True,
            )
    current.unlink(missing_ok=True)


def supervise(path: Path, command: list[str], limit: float) -> None:
    """In the parent: starts workers until all jobs have a result. A job that kills its worker or takes
    more than `limit` seconds has the result {"died": why}."""
    current = path.with_suffix(".current")
    log = path.with_suffix(".log")
    while True:
        current.unlink(missing_ok=True)
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
            hung = _wait(process, current, limit)
        if process.returncode == 0:
            return
        if not current.exists():
            sys.exit(f"the probe ended with {process.returncode} before its first job; see {log}")
        key = current.read_text("utf-8")
        why = f"more than {limit:.0f} s" if hung else f"exit status {process.returncode}"
        print(f"{key}: {why}", flush=True)
        with path.open("a", encoding="utf-8") as file:
            print("\n" + json.dumps({"key": key, "died": why}), file=file)


def _wait(process: subprocess.Popen[bytes], current: Path, limit: float) -> bool:
    key, since = "", time.monotonic()
    while process.poll() is None:
        time.sleep(0.5)
        now = current.read_text("utf-8") if current.exists() else ""
        if now != key:
            key, since = now, time.monotonic()
        elif now and time.monotonic() - since > limit:
            process.kill()
            process.wait()
            return True
    return False
