"""The interpreters that commands use: what each needs, where it is looked for, what is installed there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xlamig.config.load import Resolver
from xlamig.config.paths import users_cache
from xlamig.observe.program import NO_PYTHON, LaunchError, MissingPackageError, Program, require_version

_ASK = (
    "import importlib.metadata as m, json, sys\n"
    "def version(name):\n"
    "    try: return m.version(name)\n"
    "    except m.PackageNotFoundError: return None\n"
    "print(json.dumps([sys.version_info[:3], {name: version(name) for name in sys.argv[1:]}]))"
)
_MISSING = "{missing} not installed for {python}: run `xlamig setup {name}`, or name another with {names}"


@dataclass(frozen=True, slots=True)
class Kind:
    """An interpreter by the command it is for. `packages` are the versions that were measured."""

    name: str
    commands: tuple[str, ...]
    packages: Mapping[str, str]
    option: str
    variable: str  # of the environment, in place of the option
    key: str  # of the configuration, in place of both
    note: str = ""

    @property
    def names(self) -> str:
        """Every way to name one."""
        return f"{self.option}, {self.variable}, or `{self.key}` in [tool.xlamig]"

    @property
    def install(self) -> tuple[str, ...]:
        """Arguments of `pip install`."""
        return tuple(f"{package}=={version}" for package, version in self.packages.items())


KINDS: Mapping[str, Kind] = {
    "trace": Kind(
        "trace", ("trace", "verify", "fit"), {"torch": "2.9.0", "torch_xla": "2.9.0"}, "--python",
        "XLAMIG_PYTHON", "python",
    ),
    "fit": Kind(
        "fit", ("fit",), {"jax": "0.10.2", "libtpu": "0.0.52"}, "--compiler-python", "XLAMIG_COMPILER_PYTHON",
        "compiler-python", "libtpu is under the Google Cloud Platform Terms of Service",
    ),
    "dryrun": Kind(
        "dryrun", ("dryrun",), {"torch": "2.13.0", "torch_tpu": "0.2.0", "numpy": "2.4.6"}, "--python",
        "XLAMIG_TORCH_TPU_PYTHON", "torch-tpu-python",
        "torch_tpu brings libtpu, which is under the Google Cloud Platform Terms of Service",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """`versions` has None for what is not installed."""

    python: str
    version: tuple[int, ...]
    versions: Mapping[str, str | None]

    @property
    def shown_version(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def missing(self) -> list[str]:
        return [package for package, version in self.versions.items() if version is None]


def environment(kind: Kind) -> Path:
    """The virtual environment that `xlamig setup` makes."""
    return users_cache() / "xlamig" / "environments" / kind.name


def candidate(kind: Kind, given: str | None) -> str:
    """The interpreter to use: the one named, the one `xlamig setup` made, or ours."""
    named = given or os.environ.get(kind.variable) or _configured_python(kind)
    if named:
        return Program(target="", python=named).interpreter
    made = environment(kind) / "bin" / "python"
    return str(made) if made.is_file() else sys.executable


def _configured_python(kind: Kind) -> str | None:
    """Return the interpreter that the configuration of the current folder names. Raises ConfigError."""
    settings = Resolver().settings_for(Path.cwd())
    named = getattr(settings, kind.key.replace("-", "_"))
    return str(named) if named else None


def look(kind: Kind, given: str | None = None) -> Found:
    """Return the packages of the interpreter. Raises LaunchError where there is none."""
    python = candidate(kind, given)
    asked = [python, "-c", _ASK, *kind.packages]
    try:
        answer = subprocess.run(
            asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
        ).stdout
        version, versions = json.loads(answer.splitlines()[-1])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError) as error:
        raise LaunchError(NO_PYTHON.format(python=python)) from error
    return Found(python, tuple(version), versions)


def need(name: str, given: str | None = None) -> Found:
    """An interpreter that has everything. Raises LaunchError with what is missing, and how to get it."""
    kind = KINDS[name]
    found = look(kind, given)
    _require(kind, found)
    return found


@dataclass(frozen=True, slots=True)
class Look:
    """`error` says why a command cannot run; `found` is None where there is no interpreter at all."""

    kind: Kind
    found: Found | None
    error: str

    @property
    def is_ready(self) -> bool:
        return not self.error


def examine(kind: Kind) -> Look:
    """Return what `doctor` shows of an interpreter."""
    found = None
    try:
        found = look(kind)
        _require(kind, found)
    except LaunchError as error:
        return Look(kind, found, str(error))
    return Look(kind, found, "")


def _require(kind: Kind, found: Found) -> None:
    """Raise LaunchError if the interpreter is too old or lacks a package."""
    require_version(found.python, found.version)
    if found.missing:
        missing = " and ".join(found.missing) + (" is" if len(found.missing) == 1 else " are")
        lack = _MISSING.format(missing=missing, python=found.python, name=kind.name, names=kind.names)
        raise MissingPackageError(lack)


def make(kind: Kind) -> Path:
    """Create the environment again and install what the command needs. Raises LaunchError."""
    folder = environment(kind)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", *kind.install],
    ):
        if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
            raise LaunchError(f"this failed: {' '.join(command)}")
    return folder
