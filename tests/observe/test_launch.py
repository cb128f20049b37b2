"""A program that cannot be started gives one line; what it leaves behind is ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from xlamig.cli import xlamig
from xlamig.observe import launch


def trace(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(xlamig, ["trace", *args])
    return result.exit_code, result.output


def test_a_script_that_is_not_there() -> None:
    code, output = trace("nowhere.py")
    assert code == 2
    assert "no such file: nowhere.py" in output


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("echo 3 12 1; exit 1", 'pip install "xlamig[xla]"'),
        ("echo 3 9 18; exit 1", "is Python 3.9.18: xlamig needs 3.11 or later there"),
        ("exit 1", "does not run as a Python"),
    ],
)
def test_a_python_that_does_not_do(answer: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    code, output = trace("--python", str(python), str(tmp_path / "a.py"))
    assert (code, said in output) == (2, True)


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    code, output = trace("--python", "/nowhere/python", str(tmp_path / "a.py"))
    assert code == 2
    assert "/nowhere/python" in output


@pytest.mark.slow
def test_what_is_left_behind_is_ended(tmp_path: Path) -> None:
    environment = {**os.environ, launch.FOLDER: str(tmp_path)}
    program = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    process = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        assert launch._end_all(str(tmp_path)) == 1
        assert process.wait(timeout=10) < 0
    finally:
        process.kill()
        process.stdout.close()


@pytest.mark.skipif(sys.platform != "linux", reason="torch_xla exists for Linux alone")
def test_other_processes_are_left_alone(tmp_path: Path) -> None:
    assert launch._end_all(str(tmp_path)) == 0
