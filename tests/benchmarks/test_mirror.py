"""Files of a public repository as a measurement checks them out: all that xlamig reads, and no data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.mirror import check_out

READ = ("train.py", "scripts/train.sh", "vendored/LICENSE", "COPYING.txt", "README.md", "pkg/fast.pyx")
LEFT = ("teaser.png", "weights.pth")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return the git directory of a repository with one commit."""
    work = tmp_path / "work"
    for name in (*READ, *LEFT):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name, "utf-8")
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "first")):
        subprocess.run(("git", *command), cwd=work, check=True)
    return work / ".git"


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_checked_out(repository: Path, tmp_path: Path, name: str) -> None:
    check_out(repository, "HEAD", tmp_path / "out")
    assert (tmp_path / "out" / name).read_text("utf-8") == name


@pytest.mark.parametrize("name", LEFT)
def test_data_is_left(repository: Path, tmp_path: Path, name: str) -> None:
    check_out(repository, "HEAD", tmp_path / "out")
    assert not (tmp_path / "out" / name).exists()
