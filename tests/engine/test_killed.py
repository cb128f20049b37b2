"""A run that is killed while it writes leaves each file either old or new, and another run finishes."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
TEXT = """import torch


def step(x):
    return x.cuda()


if __name__ == "__main__":
    step(torch.ones({}))
"""
FILES = {f"{name}.py": TEXT.format(number) for number, name in enumerate("abc", 1)}
CHILD = """
import os, signal, sys
from pathlib import Path
from xlamig import engine

moment, number = sys.argv[1], int(sys.argv[2])
done, replace = 0, Path.replace

def dies(self, target):
    global done
    done += 1
    if done == number and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = replace(self, target)
    if done == number and moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return result

Path.replace = dies
engine.fix([Path()], engine.Options({}, isolated=True, jobs=1, cache=False), {"safe"}, write=True)
"""


def fixed(folder: Path) -> dict[str, str]:
    """Return the files as an undisturbed run fixes them."""
    write(FILES, folder)
    engine.fix([folder], engine.Options({}, isolated=True, jobs=1, cache=False), {"safe"}, write=True)
    return {path.name: path.read_text() for path in folder.glob("*.py")}


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("before", 1),
        *(
            pytest.param(moment, number, marks=pytest.mark.slow)
            for moment in ("before", "after")
            for number in (1, 2, 3, 4)
            if (moment, number) != ("before", 1)
        ),
    ],
)
def test_each_file_is_old_or_new(
    moment: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    new = fixed(Path())
    folder = tmp_path / "killed"
    folder.mkdir()
    write(FILES, folder)
    done = subprocess.run([sys.executable, "-c", CHILD, moment, str(number)], cwd=folder)
    assert done.returncode == -signal.SIGKILL
    written = 0
    for name, text in FILES.items():
        now = (folder / name).read_text()
        assert now in (text, new[name])
        written += now != text
        ast.parse(now)
    assert written < len(FILES) or moment == "after"
    if written:  # what a changed file imports is there before it
        assert (folder / "xla_compat.py").read_text() == new["xla_compat.py"]
    monkeypatch.chdir(folder)
    options = engine.Options({}, isolated=True, jobs=1, cache=False)
    assert not engine.fix([Path()], options, {"safe"}, write=True).problems
    assert {path.name: path.read_text() for path in folder.glob("*.py")} == new
