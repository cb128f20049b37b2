"""Starts the program under watch, as `python` would, and waits until all of it has ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import xlamig
from xlamig.observations import Trace
from xlamig.observe.collect import collect

FOLDER = "XLAMIG_TRACE_FOLDER"  # also the mark by which processes left behind are found
SETTINGS = "XLAMIG_TRACE_SETTINGS"
MISSING = 'torch_xla is not installed for {python}: pip install "xlamig[xla]", or name another with --python'
_GRACE = 1.0  # seconds for helpers of multiprocessing, which see that their parent has gone
_PATIENCE = 5.0  # seconds between asking a process to end and ending it


class LaunchError(Exception):
    """The program could not be started at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`target` is a script, or a module to run like `python -m`. No `steps` is no limit."""

    target: str
    module: bool = False
    arguments: tuple[str, ...] = ()
    python: str = sys.executable
    steps: int = 0
    as_cuda: bool = False
    on_cpu: bool = False  # a program for XLA, without XLA
    training: bool = False  # losses and parameters are looked at, too
    quiet_stdout: bool = False  # what it prints goes to stderr


@dataclass(frozen=True, slots=True)
class Run:
    """`code` is the program's own exit code, 128 + signal for one that was killed."""

    code: int
    trace: Trace | None
    killed_by: str
    left_behind: int


def run(program: Program) -> Run:
    """Raises LaunchError for a script that is not there, and without torch_xla."""
    if not program.module and not Path(program.target).is_file():
        raise LaunchError(f"no such file: {program.target}")
    _require_torch_xla(program.python)
    with tempfile.TemporaryDirectory(prefix="xlamig-trace-") as name:
        folder = Path(name)
        code = _run(program, folder)
        left = _end_all(name)
        killed = signal.Signals(-code).name if code < 0 else ""
        return Run(128 - code if code < 0 else code, collect(folder), killed, left)


def _require_torch_xla(python: str) -> None:
    if shutil.which(python) is None:
        raise LaunchError(f"no such program: {python}")
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch_xla') is None)"
    if subprocess.run([python, "-c", find], stdin=subprocess.DEVNULL, check=False).returncode:
        raise LaunchError(MISSING.format(python=python))


def _environment(program: Program, folder: Path) -> dict[str, str]:
    package = Path(xlamig.__file__).resolve().parent
    settings = {
        "xlamig": str(package.parent),
        **{name: getattr(program, name) for name in ("steps", "as_cuda", "on_cpu", "training")},
    }
    paths = [str(package / "observe" / "site"), os.environ.get("PYTHONPATH", "")]
    return {
        "PJRT_DEVICE": "CPU",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        FOLDER: str(folder),
        SETTINGS: json.dumps(settings),
    }


def _run(program: Program, folder: Path) -> int:
    what = ["-m", program.target] if program.module else [program.target]
    command = [program.python, *what, *program.arguments]
    environment = _environment(program, folder)
    output = sys.stderr if program.quiet_stdout else None
    sys.stdout.flush()
    with subprocess.Popen(command, env=environment, stdout=output) as process, _passing_signals(process):
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
        _signal(_marked(mark), number)
        _wait_for(mark, _PATIENCE)
    return left


def _wait_for(mark: str, seconds: float) -> int:
    """How many are still there after that time."""
    end = time.monotonic() + seconds
    while (left := len(list(_marked(mark)))) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def _marked(mark: str) -> Iterator[int]:
    """Processes that inherited our environment. torch_xla exists for Linux alone, so /proc does."""
    wanted = f"{FOLDER}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def text_of(filename: str) -> str | None:
    """The source that ran, None for what is no readable file."""
    try:
        return Path(filename).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
