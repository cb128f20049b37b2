"""Two runs that fix the same folder at once leave what one run makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TEXT = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def step(x):
    return x.cuda() + {}
"""
FILES = {f"part{number}.py": TEXT.format(number) for number in range(12)}
CHILD = """
import sys
from pathlib import Path
from xlamig import engine

print("ready", flush=True)
sys.stdin.readline()
engine.fix([Path()], engine.Options({}, isolated=True, jobs=1, cache=False), {"safe"}, write=True)
"""


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.slow
def test_two_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, both = tmp_path / "alone", tmp_path / "both"
    for folder in (alone, both):
        folder.mkdir()
        write(FILES, folder)
    monkeypatch.chdir(alone)
    engine.fix([Path()], engine.Options({}, isolated=True, jobs=1, cache=False), {"safe"}, write=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": both}
    runs = [subprocess.Popen([sys.executable, "-c", CHILD], **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for run in runs:
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        run.stdin.write("go\n")
        run.stdin.flush()
    for run in runs:
        run.communicate()
        assert run.returncode == 0
    assert contents(both) == contents(alone)
