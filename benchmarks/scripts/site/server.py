"""Imports torch once and runs each script in a fork: reads a job from each line, answers with its exit code.

With the argument `xla` torch_xla is imported as well, yet a script sees it only once it imports it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import runpy
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import migrate_observer
import torch  # noqa: F401

OPTIONAL = ("numpy", "torchvision")
POLL = 0.05  # seconds
IDLE = 20  # a run may take so many times its CPU seconds


class Kept(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Give a script the modules that are loaded already, when it imports them."""

    def __init__(self, package: str) -> None:
        names = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
        self.modules = {name: sys.modules.pop(name) for name in names}

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name in self.modules else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module was executed before the fork."""


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    for name in (*OPTIONAL, *(["torch_xla", "torch_xla.debug.metrics"] if "xla" in sys.argv[1:] else [])):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            os.setsid()
            os.dup2(null, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], job["limit"] + 1))
            os._exit(run(**job["script"]))
        print(json.dumps(wait(child, IDLE * job["limit"])), file=answers, flush=True)


def wait(child: int, limit: float) -> int | None:
    """Return the exit code of a process, None if it took too many seconds, or CPU seconds."""
    end = time.monotonic() + limit
    code: int | None = None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            code = None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(POLL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # workers that it left behind
    return code


def run(command: list[str], cwd: str, environment: dict[str, str]) -> int:
    """Run a script in this process as Python would run the command; return its exit code."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.meta_path.insert(0, Kept("torch_xla"))
    observed = migrate_observer.start()
    code = 0
    try:
        execute(command)
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException as error:
        observed.failed(type(error), error, error.__traceback__)
        code = 1
    atexit._run_exitfuncs()
    return code


def execute(command: list[str]) -> None:
    """Run `FILE ...` or `-c CODE ...` with its arguments as `__main__`."""
    entry = Path(command[0])
    paths = os.environ["PYTHONPATH"].split(os.pathsep)
    if command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        sys.path[:0] = ["", *paths]
        exec(compile(command[1], "<string>", "exec"), sys.modules["__main__"].__dict__)
    else:
        sys.argv = command
        sys.path[:0] = [str(entry.resolve().parent), *paths]
        runpy.run_path(str(entry), run_name="__main__")


if __name__ == "__main__":
    main()
