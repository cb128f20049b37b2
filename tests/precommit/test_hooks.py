"""The hooks as pre-commit runs them, in a repository of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))}
SOURCES = ("src", "rules", "pyproject.toml", "README.md", "LICENSE", MANIFEST.name)

FINDING = "import torch\n\ntorch.cuda.synchronize()\n"
INFO = "import torch\n\ndef f(x: torch.Tensor):\n    return x.lgamma()\n"
CLEAN = "import torch\n\nx = torch.zeros(2)\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    run = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


class Repository:
    """A git repository with a pre-commit configuration."""

    def __init__(self, folder: Path, home: Path, config: Mapping[str, object]) -> None:
        self.folder, self.home = folder, home
        folder.mkdir()
        git(folder, "init", "-q")
        self.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [dict(config)]}))
        self.write("pyproject.toml", '[tool.xlamig]\nextend-exclude = ["vendored"]\n')

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        git(self.folder, "add", name)
        return path

    def commit(self) -> None:
        git(self.folder, "commit", "-qm", "all", "--no-verify")

    def run(self, hook: str, *files: str) -> tuple[int, str]:
        """The exit code, and what the hook itself printed, on the files or on what is staged."""
        names = ["--files", *files] if files else []
        program = [sys.executable, "-m", "pre_commit", "run", "--verbose", "--color=never", hook, *names]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        environment["PRE_COMMIT_HOME"] = str(self.home)
        environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        run = subprocess.run(
            program,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        output = run.stdout + run.stderr
        assert "Traceback" not in output, output
        _, _, printed = output.partition("- duration:")
        return run.returncode, "\n".join(line for line in printed.splitlines()[1:] if line)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """The hooks' own entries, run with the xlamig that is installed here: quick."""
    keys = ("id", "name", "entry", "types", "require_serial")
    hooks = [{key: hook[key] for key in keys} | {"language": "system"} for hook in HOOKS.values()]
    return Repository(tmp_path / "repository", tmp_path / "home", {"repo": "local", "hooks": hooks})


def test_there_are_two_hooks() -> None:
    assert set(HOOKS) == {"xlamig-check", "xlamig-fix"}


@pytest.mark.slow
@pytest.mark.parametrize("hook", HOOKS)
def test_clean_files_pass(repository: Repository, hook: str) -> None:
    repository.write("train.py", CLEAN)
    code, printed = repository.run(hook)
    assert code == 0
    assert "XLA0" not in printed


@pytest.mark.slow
@pytest.mark.parametrize("hook", HOOKS)
def test_a_commit_of_other_files_passes_quietly(repository: Repository, hook: str) -> None:
    repository.write("train.py", FINDING)
    repository.commit()
    repository.write("notes.md", "torch.cuda.synchronize()\n")
    assert repository.run(hook) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("hook", HOOKS)
def test_an_excluded_file_passes_quietly_though_named(repository: Repository, hook: str) -> None:
    file = repository.write("vendored/train.py", FINDING)
    assert repository.run(hook, "vendored/train.py") == (0, "")
    assert file.read_text(encoding="utf-8") == FINDING


def test_check_reports_and_leaves_the_file(repository: Repository) -> None:
    file = repository.write("train.py", FINDING)
    code, printed = repository.run("xlamig-check")
    assert code == 1
    assert "XLA005" in printed
    assert file.read_text(encoding="utf-8") == FINDING


@pytest.mark.slow
def test_only_what_fails_the_check_is_reported(repository: Repository) -> None:
    repository.write("train.py", FINDING + INFO)
    code, printed = repository.run("xlamig-check")
    assert code == 1 and "XLA005" in printed and "info" not in printed
    repository.write("train.py", INFO)
    code, printed = repository.run("xlamig-check")
    assert code == 0 and "info" not in printed
    repository.write("pyproject.toml", '[tool.xlamig]\nfail-on = "info"\n')
    code, printed = repository.run("xlamig-check")
    assert code == 1 and "info" in printed


@pytest.mark.slow
def test_files_that_are_not_python_are_checked_too(repository: Repository) -> None:
    expected = {
        repository.write(name, text).name: code
        for name, text, code in (
            ("requirements.txt", "flash-attn\n", "XLA909"),
            ("requirements.in", "apex\n", "XLA909"),
            ("Dockerfile", "FROM nvidia/cuda:12.1.0-devel\n", "XLA910"),
            ("pod.yaml", "limits:\n  nvidia.com/gpu: 8\n", "XLA911"),
            ("train.sbatch", "#SBATCH --gres=gpu:8\n", "XLA911"),
            ("add.cu", "__global__ void add(float* x) { }\n", "XLA602"),
        )
    }
    exit_code, printed = repository.run("xlamig-check")
    assert exit_code == 1
    found = re.findall(r"^([A-Z]+\d+) .*\n --> (.+?):", printed, re.MULTILINE)
    assert {name: code for code, name in found} == expected


@pytest.mark.slow
def test_files_that_say_nothing_about_gpus_pass(repository: Repository) -> None:
    repository.write("requirements.txt", "numpy\n")
    repository.write("deploy.yaml", "replicas: 3\n")
    repository.write("main.cpp", "int main() { return 0; }\n")
    code, printed = repository.run("xlamig-check")
    assert code == 0 and "XLA" not in printed


@pytest.mark.slow
def test_fix_changes_the_file_and_then_has_nothing_left(repository: Repository) -> None:
    file = repository.write("train.py", 'import torch\n\nx = torch.zeros(2, device="cuda")\n')
    code, _ = repository.run("xlamig-fix")
    assert code == 1
    assert '"cuda"' not in file.read_text(encoding="utf-8")
    git(repository.folder, "add", "-A")
    assert repository.run("xlamig-fix")[0] == 0


@pytest.mark.slow
def test_pre_commit_installs_the_hooks_from_a_repository(tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, published / name)
    git(published, "init", "-q")
    git(published, "add", ".")
    git(published, "commit", "-qm", "all")
    config = {
        "repo": str(published),
        "rev": git(published, "rev-parse", "HEAD"),
        "hooks": [{"id": "xlamig-check"}],
    }
    repository = Repository(tmp_path / "repository", tmp_path / "home", config)

    repository.write("train.py", CLEAN)
    assert repository.run("xlamig-check")[0] == 0
    repository.write("vendored/train.py", FINDING)
    assert repository.run("xlamig-check", "vendored/train.py") == (0, "")
    repository.write("train.py", FINDING)
    code, printed = repository.run("xlamig-check")
    assert code == 1
    assert "XLA005" in printed
