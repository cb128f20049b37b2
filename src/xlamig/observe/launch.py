"""Starts a program with something of ours loaded in each of its Pythons, and waits for its end.

`trace`, `verify` and `fit` start programs here and nowhere else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xlamig
from xlamig.observe.program import LaunchError, Program, require

__all__ = ["Exit", "LaunchError", "Program", "Watch", "launch", "require"]

FOLDER = "XLAMIG_WATCH_FOLDER"  # also the mark by which processes left behind are found
WATCH = "XLAMIG_WATCH"
_GRACE = 1.0  # seconds for helpers of multiprocessing, which see that their parent has gone
_PATIENCE = 5.0  # seconds between asking a process to end and ending it


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Every Python of the program calls `begin(settings)` of the module `entry` once it has imported
    `after`. `bring` are pairs: when the first has been imported, the second is imported too."""

    entry: str
    after: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    bring: tuple[tuple[str, str], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # where the user's has no such variable


@dataclass(frozen=True, slots=True)
class Exit:
    """`code` is the program's own exit code, 128 + signal for one that was killed."""

    code: int
    killed_by: str = ""
    left_behind: int = 0


def launch(program: Program, watch: Watch, folder: Path) -> Exit:
    """Run the program to its end, and end what it leaves behind. What runs inside writes to `folder`."""
    command = program.command(folder)
    output = sys.stderr if program.quiet_stdout else None
    sys.stdout.flush()
    try:
        environment = _environment(watch, folder)
        process = subprocess.Popen(command, env=environment, stdout=output, cwd=program.folder)
    except OSError as error:
        raise LaunchError(f"{command[0]}: {error.strerror}") from error
    with process, _passing_signals(process):
        code = _wait(process)
    left = _end_all(str(folder))
    return Exit(128 - code, signal.Signals(-code).name, left) if code < 0 else Exit(code, "", left)


def _environment(watch: Watch, folder: Path) -> dict[str, str]:
    package = Path(xlamig.__file__).resolve().parent
    asked = {
        "xlamig": str(package.parent),
        "entry": watch.entry,
        "after": watch.after,
        "bring": dict(watch.bring),
        "settings": dict(watch.settings),
    }
    paths = [str(package / "observe" / "site"), os.environ.get("PYTHONPATH", "")]
    return {
        **watch.environment,
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        FOLDER: str(folder),
        WATCH: json.dumps(asked),
    }


def _wait(process: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the terminal sent it to the program as well
            continue


@contextmanager
def _passing_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whoever asks us to end asks the program."""
    caught = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda n, _: process.send_signal(n)) for number in caught]
    try:
        yield
    finally:
        for number, handler in zip(caught, before, strict=True):
            signal.signal(number, handler)


def _end_all(mark: str) -> int:
    """Ends every process that the program started and left; how many did not end by themselves."""
    left = _wait_for(mark, _GRACE)
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(_processes_with(mark), number)
        _wait_for(mark, _PATIENCE)
    return left


def _wait_for(mark: str, seconds: float) -> int:
    """How many are still there after that time."""
    end = time.monotonic() + seconds
    while (left := len(list(_processes_with(mark)))) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def _processes_with(mark: str) -> Iterator[int]:
    """Processes that inherited our environment. torch_xla exists for Linux alone, so /proc does."""
    wanted = f"{FOLDER}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)
