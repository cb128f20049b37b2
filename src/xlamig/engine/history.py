"""The same check on earlier commits: what a program's findings were."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlamig.config.load import Resolver
from xlamig.engine.gitfiles import GitError, git, write_files
from xlamig.engine.options import Options, UsageError, caught
from xlamig.engine.run import Run
from xlamig.findings import Provenance, Report
from xlamig.source.files import is_wanted


@dataclass(frozen=True, slots=True)
class Commit:
    revision: str
    date: str
    subject: str


def history(paths: Sequence[Path], options: Options, points: int) -> Iterator[tuple[Commit, Report]]:
    """Reports on at most `points` commits that changed the paths, oldest first, evenly apart and with
    the settings of today; HEAD's is the last. Nothing in the checkout changes.

    Raises:
        UsageError: as for `check`, or the paths are in no git repository.
    """
    top = Path(_text(_folder(paths[0]), "rev-parse", "--show-toplevel").rstrip("\n"))
    inside = [_inside(path, top) for path in paths]
    log = _text(top, "log", "--first-parent", "--format=%h%x09%cs%x09%s", "HEAD", "--", *inside)
    commits = [Commit(*line.split("\t", 2)) for line in log.splitlines()][::-1]
    with caught():
        source = Resolver(options.overrides, options.config, options.isolated).settings_for(paths[0]).source
    same = replace(options, config=source, isolated=source is None, progress=None, whole=None)
    with tempfile.TemporaryDirectory(prefix="xlamig-") as folder:
        for commit in _spread(commits, points):
            then = Path(folder, "then")  # one place for all: what did not change is in the cache
            then.mkdir()
            _write(top, commit, inside, then)
            there = [then / name for name in inside if (then / name).exists()]
            yield commit, Run(there, same).report()
            shutil.rmtree(then)


def provenance(path: Path, entries: Sequence[Path] = ()) -> Provenance:
    """The repository that holds `path` and its commit; outside git the folder's name alone."""
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    scope = tuple(entry.as_posix() for entry in entries)
    try:
        top = Path(_text(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
        revision, date = _text(top, "log", "-1", "--format=%h%x09%cs").strip().split("\t")
        changed = bool(_text(top, "status", "--porcelain", "--untracked-files=no").strip())
    except UsageError:
        return Provenance(folder.name, entries=scope)
    inside = path.resolve().relative_to(top.resolve())
    return Provenance((Path(top.name) / inside).as_posix(), revision, date, changed, scope)


def _spread(commits: Sequence[Commit], points: int) -> list[Commit]:
    if len(commits) <= points:
        return list(commits)
    last = len(commits) - 1
    return [commits[round(place * last / (points - 1))] for place in range(points)]


def _folder(path: Path) -> Path:
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}")
    return path if path.is_dir() else path.parent


def _inside(path: Path, top: Path) -> str:
    resolved = path.resolve()
    if not resolved.is_relative_to(top.resolve()):
        raise UsageError(f"{path} is outside the repository {top}")
    return resolved.relative_to(top.resolve()).as_posix()


def _write(top: Path, commit: Commit, inside: Sequence[str], folder: Path) -> None:
    """Write the files of the paths as they were at a commit."""
    try:
        write_files(top, commit.revision, inside, _matters, folder)
    except GitError as error:
        raise UsageError(f"--history: {error}") from None


def _matters(name: str) -> bool:
    return is_wanted(name) or name.rpartition("/")[2] == ".gitignore"


def _text(folder: Path, *arguments: str) -> str:
    try:
        return git(folder, *arguments)
    except GitError as error:
        raise UsageError(f"--history: {error}") from None
