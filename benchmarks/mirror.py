"""Public repositories, read from git directories named `owner+name/repo` in one folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

CHECKED = (
    *("*.py", "*.ipynb", "*requirements*.txt", "*.toml", "*.cfg", "*.yaml", "*.yml", "*Dockerfile*"),
    *("*.sh", "*.slurm", "*.sbatch", "*.cu", "*.cuh", "*.cpp", "*.h"),
)


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


def check_out(directory: Path, commit: str, folder: Path, patterns: Sequence[str] = CHECKED) -> None:
    """Write the files of a commit that xlamig reads into a folder; raises MissingMirror."""
    names = git(directory, "ls-tree", "-r", "--name-only", "--full-tree", commit).splitlines()
    kinds = [kind for kind in patterns if any(fnmatch(name, kind) for name in names)]
    folder.mkdir(parents=True, exist_ok=True)
    base = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", f"--work-tree={folder}"]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_INDEX_FILE": f"{folder.resolve()}.index"}
    # A snapshot may lack single large files: what it has is written.
    subprocess.run(
        [*base, "checkout", "-q", commit, "--", *kinds], env=environment, cwd=folder, capture_output=True
    )
