from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from small_project import codes, write

from xlamig import engine
from xlamig.engine import Options, UsageError
from xlamig.findings import Report


def git(*arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def commit() -> str:
    git("add", "-A")
    git("commit", "-qm", "x", "--allow-empty")
    return git("rev-parse", "HEAD")


def check(revision: str, *paths: str) -> Report:
    options = Options({}, isolated=True, jobs=1, cache=False, diff_base=revision)
    return engine.check([Path(path) for path in paths or (".",)], options)


@pytest.fixture
def base(project: Path) -> str:
    git("init", "-q", "-b", "main")
    return commit()


def test_nothing_changed_nothing_reported(base: str) -> None:
    report = check(base)
    assert not report.findings and report.hidden


def test_only_changed_lines_count(project: Path, base: str) -> None:
    text = (project / "tools.py").read_text()
    (project / "tools.py").write_text(f"# above\n{text}torch.cuda.ipc_collect()\n")
    [finding] = check(base).findings
    assert "ipc_collect" in finding.message


def test_lines_that_were_only_deleted_add_nothing(project: Path, base: str) -> None:
    (project / "tools.py").write_text("import torch\n\ntorch.cuda.synchronize()\n")
    assert not check(base).findings


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_the_revision_does_not_know_is_new(project: Path, base: str, staged: bool) -> None:
    write({"new file's.py": "import torch\n\ntorch.cuda.synchronize()\n"}, project)
    if staged:
        git("add", "-A")
    assert codes(check(base), "new file's.py") == ["XLA005"]


def test_a_renamed_file_is_not_new(project: Path, base: str) -> None:
    text = (project / "tools.py").read_text()
    (project / "tools.py").unlink()
    (project / "named.py").write_text(text + "torch.cuda.ipc_collect()\n" + "x = 1\n" * 2)
    git("add", "-A")
    assert codes(check(base), "named.py") == ["XLA006"]


def test_what_happened_on_the_other_branch_does_not_count(project: Path, base: str) -> None:
    git("checkout", "-qb", "work")
    git("checkout", "-q", "main")
    (project / "tools.py").write_text("import torch\n")
    commit()
    git("checkout", "-q", "work")
    assert not check("main").findings


def test_a_committed_change_counts_too(project: Path, base: str) -> None:
    (project / "tools.py").write_text("import torch\n\ntorch.cuda.ipc_collect()\n")
    commit()
    assert codes(check(base), "tools.py") == ["XLA006"]


def test_a_changed_file_that_cannot_be_parsed_is_reported(project: Path, base: str) -> None:
    (project / "broken.py").write_text("# a comment\nx = (\n")
    assert codes(check(base), "broken.py") == ["XLA000"]


def test_from_a_folder_below(project: Path, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "app/clean.py").write_text("import torch\n\ntorch.cuda.synchronize()\n")
    monkeypatch.chdir(project / "app")
    assert codes(check(base), "clean.py") == ["XLA005"]


@pytest.mark.parametrize("revision", ["nonsense", "--output=x", "HEAD~9"])
def test_no_such_revision_is_said_in_a_line(project: Path, base: str, revision: str) -> None:
    with pytest.raises(UsageError, match="git knows no revision"):
        check(revision)
    assert not (project / "x").exists()


def test_no_repository_is_said_in_a_line(project: Path) -> None:
    with pytest.raises(UsageError, match="not a git repository"):
        check("HEAD")


def test_a_file_outside_the_repository_is_said_in_a_line(
    project: Path, base: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "a.py"
    other.write_text("import torch\n\ntorch.cuda.synchronize()\n")
    with pytest.raises(UsageError, match="outside the repository"):
        check(base, ".", str(other))


def test_the_working_directory_may_be_outside_the_repository(
    project: Path, base: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (project / "tools.py").read_text()
    (project / "tools.py").write_text(f"{text}torch.cuda.ipc_collect()\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    [finding] = check(base, str(project)).findings
    assert "ipc_collect" in finding.message
