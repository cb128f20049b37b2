"""A program to start, as one types it: a script, a module, a notebook or a launcher."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from xlamig.observe import sources

MISSING = '{package} is not installed for {python}: pip install "xlamig[xla]", or name another with --python'
NO_PYTHON = "{python} does not run as a Python"
_SHELL = frozenset({".sh", ".bash"})
_RUN_NOTEBOOK = Path(__file__).parent / "site" / "run_notebook.py"


OLDEST = (3, 11)
_ASK = (
    "import importlib.util, sys; print(*sys.version_info[:3]); "
    "sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
)
_VERSION = re.compile(r"^(\d+) (\d+) (\d+)$", re.MULTILINE)


class LaunchError(Exception):
    """The program cannot be started."""


class MissingPackageError(LaunchError):
    """An interpreter lacks a package that the command needs."""


class OldPythonError(LaunchError):
    """An interpreter is older than `OLDEST`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`target` is a script, a notebook, a launcher such as `torchrun`, or with `module` what
    `python -m` runs. `python` is an interpreter or the folder of a virtual environment."""

    target: str
    module: bool = False
    arguments: tuple[str, ...] = ()
    python: str = sys.executable
    quiet_stdout: bool = False  # what the program prints goes to stderr
    folder: Path | None = None  # to run it in

    @property
    def interpreter(self) -> str:
        """The path of the interpreter; raises LaunchError where there is none."""
        inside = Path(self.python, "bin", "python")
        found = str(inside) if inside.is_file() else shutil.which(self.python)
        if found is None:
            raise LaunchError(f"no such interpreter: {self.python}")
        return found

    def locate(self) -> None:
        """Raise LaunchError where there is neither such a file nor such a command."""
        if not self.module and not Path(self.folder or "", self.target).is_file():
            self._launcher()

    def command(self, folder: Path) -> list[str]:
        """Return the command to execute; a notebook leaves its cells in `folder`."""
        return [*self._start(folder), *self.arguments]

    def _start(self, folder: Path) -> list[str]:
        if self.module:
            return [self.interpreter, "-m", self.target]
        path = Path(self.folder or "", self.target)
        if not path.is_file():
            return [self._launcher()]
        if path.suffix in _SHELL:
            return ["bash", self.target]
        if path.suffix != sources.NOTEBOOK:
            return [self.interpreter, self.target]
        cells = folder / "cells"
        cells.write_text(json.dumps(sources.cells_of(path)), encoding="utf-8")
        return [self.interpreter, str(_RUN_NOTEBOOK), str(cells)]

    def _launcher(self) -> str:
        """A command of the interpreter's environment, or of the search path."""
        beside = Path(self.interpreter).parent / self.target
        found = str(beside) if beside.is_file() else shutil.which(self.target)
        if found is None or self.target.endswith((".py", sources.NOTEBOOK)):
            raise LaunchError(f"no such file: {self.target}")
        return found


def require(program: Program, package: str) -> None:
    """Raise LaunchError if there is no such program, or if its interpreter cannot import `package`."""
    program.locate()
    asked = [program.interpreter, "-c", _ASK, package]
    answer = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    version = _VERSION.search(answer.stdout)
    if version is None:
        raise LaunchError(NO_PYTHON.format(python=program.python))
    require_version(program.python, tuple(map(int, version.groups())))
    if answer.returncode:
        raise MissingPackageError(MISSING.format(package=package, python=program.python))


def require_version(python: str, version: tuple[int, ...]) -> None:
    """Raise OldPythonError if xlamig does not run inside that Python."""
    if version < OLDEST:
        found, oldest = (".".join(map(str, one)) for one in (version, OLDEST))
        raise OldPythonError(f"{python} is Python {found}: xlamig needs {oldest} or later there")
