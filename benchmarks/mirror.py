"""Public repositories, read from git directories named `owner+name/repo` in one folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from xlamig.engine.brought import LICENCE
from xlamig.engine.switches import PAGES
from xlamig.source.kinds import kind_of

_MODULES = (".pyi", ".pyx", ".pxd")  # whose names tell that a module is there


class MissingMirror(Exception):
    """A repository or a commit of it that the folder does not have."""


def git_directory(mirror: Path, repository: str) -> Path:
    """Return the git directory of `owner/name`; raises MissingMirror."""
    base = mirror / repository.replace("/", "+") / "repo"
    for folder in (base, base / ".git"):
        if (folder / "objects").is_dir():
            return folder
    raise MissingMirror(f"{repository}: no git directory under {base}")


def git(directory: Path, *arguments: str) -> str:
    """Return what git prints; raises MissingMirror where it fails."""
    command = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", *arguments]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    run = subprocess.run(command, env=environment, capture_output=True)
    if run.returncode:
        raise MissingMirror(run.stderr.decode(errors="replace").strip())
    return run.stdout.decode(errors="replace")


def check_out(directory: Path, commit: str, folder: Path, patterns: Sequence[str] = ()) -> None:
    """Write the files of a commit that fit a pattern, or that xlamig reads, into a folder: sources, the
    settings and pages that say which options are used, and the licences that tell whose a folder is."""
    names = git(directory, "ls-tree", "-r", "--name-only", "--full-tree", "-z", commit).split("\0")
    wanted = (lambda name: any(fnmatch(name, pattern) for pattern in patterns)) if patterns else _is_read
    folder.mkdir(parents=True, exist_ok=True)
    base = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", f"--work-tree={folder}"]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_INDEX_FILE": f"{folder.resolve()}.index"}
    command = [*base, "checkout", "-q", commit, "--pathspec-from-file=-", "--pathspec-file-nul"]
    chosen = "\0".join(f":(literal){name}" for name in names if name and wanted(name))
    # A snapshot may lack single large files: the others are written.
    subprocess.run(command, input=chosen.encode(), env=environment, cwd=folder, capture_output=True)
    Path(environment["GIT_INDEX_FILE"]).unlink(missing_ok=True)


def _is_read(name: str) -> bool:
    if name.endswith((".py", ".ipynb", *_MODULES, *PAGES)) or LICENCE.fullmatch(name.rpartition("/")[2]):
        return True
    return kind_of(name) is not None
