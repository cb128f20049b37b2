from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from xlamig.engine import Options, UsageError, history

ISOLATED = Options(isolated=True, cache=False, jobs=1)


def git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{field}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=os.environ | who
    )


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four commits: three calls, two, none outside of src, one."""
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "a.py"
    for calls in (3, 2, None, 1):
        if calls is None:
            (tmp_path / "other.py").write_text("import torch\ntorch.cuda.synchronize()\n", "utf-8")
        else:
            lines = [f"torch.cuda.synchronize({number})\n" for number in range(calls)]
            file.write_text("".join(("import torch\n", *lines)), "utf-8")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", f"{calls} calls")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(path: str, points: int) -> list[tuple[str, int]]:
    found = history([Path(path)], ISOLATED, points)
    return [(commit.subject, len(report.findings)) for commit, report in found]


def test_findings_by_commit_oldest_first(repo: Path) -> None:
    assert told("src", 9) == [("3 calls", 3), ("2 calls", 2), ("1 calls", 1)]
    assert [count for _, count in told(".", 9)] == [3, 2, 3, 2]


def test_few_points_keep_the_first_and_the_last(repo: Path) -> None:
    assert told("src", 2) == [("3 calls", 3), ("1 calls", 1)]


def test_a_file_has_a_history_too(repo: Path) -> None:
    assert told("other.py", 9) == [("None calls", 1)]


def test_the_checkout_stays_as_it_is(repo: Path) -> None:
    (repo / "src" / "a.py").write_text("x = 1\n", "utf-8")
    before = sorted(path for path in repo.rglob("*") if ".git" not in path.parts)
    assert told("src", 9)[-1] == ("1 calls", 1)
    assert sorted(path for path in repo.rglob("*") if ".git" not in path.parts) == before


def test_outside_of_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--history: "):
        list(history([tmp_path], ISOLATED, 3))


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        list(history([tmp_path / "gone"], ISOLATED, 3))
