"""Scripts to migrate: entries of the manifest, or files of your own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mirror import check_out, git_directory
from benchmarks.split import Split, split_of

DATA = "benchmarks.scripts.data"
ROOT = Path(__file__).parents[2]
MANIFEST = Path(__file__).with_name("manifest.toml")
READ = ("*.py", "*.txt", "*.json", "*.yaml", "*.yml", "*.csv")  # of a repository that names no `paths`


class CannotPrepare(Exception):
    """The data of a script could not be made, or a command of its `prepare` failed."""


@dataclass(frozen=True)
class Script:
    """A script, the arguments that make it small and the data that it reads.

    `folder` is copied whole, as `file` alone otherwise. `cpu` are further arguments of runs on the CPU,
    `xla` of the migrated script. `steps` and `limit` (CPU seconds per run) override the command line's.
    """

    id: str
    entry: str
    file: Path | None = None
    folder: Path | None = None
    repo: str = ""
    commit: str = ""
    paths: tuple[str, ...] = READ
    cwd: str = "."
    args: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    xla: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    make: tuple[str, ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    requires: tuple[str, ...] = ()
    cuda: str = ""
    steps: int | None = None
    limit: int | None = None
    shape: str = ""

    @property
    def half(self) -> Split:
        return split_of(self.repo) if self.repo else "dev"

    def lay_out(self, folder: Path, mirror: Path | None, python: str) -> None:
        """Write the script, its data and its empty folders; raises MissingMirror and CannotPrepare."""
        folder.mkdir(parents=True)
        if self.folder is not None:
            shutil.copytree(
                self.folder, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"), dirs_exist_ok=True
            )
        elif self.file is not None:
            shutil.copy(self.file, folder / self.entry)
        else:
            assert mirror is not None
            check_out(git_directory(mirror, self.repo), self.commit, folder, self.paths)
        for path in (self.cwd, *self.make):
            (folder / path).mkdir(parents=True, exist_ok=True)
        if self.data:
            words = (word for kind, path in self.data for word in (kind, path))
            _prepare([python, "-m", DATA, *words], folder, PYTHONPATH=str(ROOT))
        for command in self.prepare:
            _prepare([python, *command], folder / self.cwd)


def _prepare(command: Sequence[str], folder: Path, **variables: str) -> None:
    environment = {**os.environ, **variables}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise CannotPrepare(ran.stderr.strip().rpartition("\n")[2])


def of_files(files: Sequence[Path], whole: bool = False) -> list[Script]:
    """Return the scripts that are single files; `whole`, those that import what lies in the same folder."""
    if whole:
        paths = [path.resolve() for path in files]
        return [Script(f"{path.parent.name}-{path.stem}", path.name, folder=path.parent) for path in paths]
    return [Script(path.stem, path.name, path.resolve()) for path in files]


def of_manifest(manifest: Path = MANIFEST) -> list[Script]:
    """Return the scripts of a manifest, in its order."""
    entries = tomllib.loads(manifest.read_text())["script"]
    return [Script(**{name: _frozen(value) for name, value in entry.items()}) for entry in entries]


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
