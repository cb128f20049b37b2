"""The same bytes however a run is made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[2] / "fixtures"
COMMAND = "import sys; from xlamig.cli import main; main()"
ARGUMENTS = ("check", "--output-format", "json", "--isolated", "--confidence", "possible", "--unsafe-fixes")


def output(*args: str, seed: str = "0", fix: bool = False) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *ARGUMENTS, *args], capture_output=True, env=environment
    )
    assert done.returncode == 1, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One program of each rule: enough files for the worker processes to be used."""
    folder = tmp_path_factory.mktemp("code")
    shutil.copytree(FIXTURES / "repos", folder / "repos")
    for rule in FIXTURES.glob("XLA*"):
        for path in sorted(rule.glob("*/bad.py"))[:1]:
            shutil.copyfile(path, folder / f"{rule.name}.py")
    (folder / "broken.py").write_text("x = (\n")
    (folder / "deep.py").write_text(f"x = {'-' * 5000}1\n")
    return folder


def test_jobs_seeds_and_the_cache_change_nothing(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code)
    expected = output("-j1", "--no-cache")
    assert expected.count(b'"fingerprint"') > 20
    assert output("-j2", "--no-cache", seed="1") == expected
    assert output("-j4", "--no-cache", seed="2") == expected
    assert output("-j2", seed="1") == expected  # cold
    assert output("-j1", seed="2") == expected  # warm


def test_fixes_are_the_same_too(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code)

    def diff(*args: str, seed: str) -> bytes:
        return output("--diff", *args, seed=seed)

    expected = diff("-j1", "--no-cache", seed="0")
    assert expected.count(b"\n+++ ") > 5
    assert diff("-j2", "--no-cache", seed="1") == expected
    assert diff("-j1", seed="2") == expected


def test_the_order_of_paths_changes_nothing(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code)
    names = sorted(path.name for path in code.iterdir() if path.suffix == ".py" or path.name == "repos")
    assert output("--no-cache", *names) == output("--no-cache", *reversed(names), *names[:2])
