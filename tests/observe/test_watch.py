"""The module that is loaded into each Python of a program, however the program imports torch_xla."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from xlamig.observe.launch import Exit, LaunchError, Program, Watch, launch

ENTRY = """
import json, os, pathlib, sys
def begin(settings):
    folder = pathlib.Path(os.environ["XLAMIG_WATCH_FOLDER"])
    name = f"{os.getpid()}.json"
    (folder / name).write_text(json.dumps([settings, "waited_for" in sys.modules]))
"""
PROGRAMS = {
    "plain": "import waited_for",
    "looked-up-first": "import importlib.util as u\nassert u.find_spec('waited_for')\nimport waited_for",
    "looked-up-twice": "import importlib.util as u\nu.find_spec('waited_for')\nu.find_spec('waited_for')\n"
    "import waited_for",
    "lazy": "def work():\n    import waited_for\nwork()",
    "by-name": "import importlib\nimportlib.import_module('waited_for')",
    "in-a-thread": "import threading\nt = threading.Thread(target=__import__, args=('waited_for',))\n"
    "t.start()\nt.join()",
    "in-a-process": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', 'import waited_for'], check=True)",
    "tried-before-it-was-there": "import sys\npath, sys.path = sys.path, []\ntry:\n    import waited_for\n"
    "except ImportError:\n    sys.path = path\nimport waited_for",
}


def watched(folder: Path, target: str, *arguments: str, module: bool = False) -> tuple[Exit, list[object]]:
    """How it ended, and what each watched process wrote."""
    out = folder / "out"
    out.mkdir()
    watch = Watch(entry="entry", after="waited_for", settings={"n": 3})
    ended = launch(Program(target=target, arguments=arguments, module=module, quiet_stdout=True), watch, out)
    return ended, [json.loads(path.read_text()) for path in out.glob("*.json")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "entry.py").write_text(ENTRY)
    (tmp_path / "waited_for.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_begins_once_after_the_import(folder: Path, text: str) -> None:
    (folder / "program.py").write_text(text)
    assert watched(folder, "program.py") == (Exit(0), [[{"n": 3}, True]])


def test_a_program_that_only_looks_it_up_is_not_watched(folder: Path) -> None:
    (folder / "program.py").write_text("import importlib.util\nimportlib.util.find_spec('waited_for')")
    assert watched(folder, "program.py") == (Exit(0), [])


def test_a_module(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__main__.py").write_text("import sys, waited_for\nassert sys.argv[1:] == ['--a']")
    assert watched(folder, "package", "--a", module=True) == (Exit(0), [[{"n": 3}, True]])


def test_a_launcher_on_the_search_path(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "bin" / "launcher"
    launcher.parent.mkdir()
    launcher.write_text(f"#!{sys.executable}\nimport runpy, sys\nrunpy.run_path(sys.argv[1])\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", f"{launcher.parent}:/usr/bin:/bin")
    (folder / "program.py").write_text("import waited_for")
    assert watched(folder, "launcher", "program.py") == (Exit(0), [[{"n": 3}, True]])


def test_a_shell_script(folder: Path) -> None:
    (folder / "run.sh").write_text(f"{sys.executable} -c 'import waited_for'\nexit $1")
    assert watched(folder, "run.sh", "7") == (Exit(7), [[{"n": 3}, True]])


def test_a_notebook_runs_cell_by_cell_without_its_magics(folder: Path) -> None:
    sources = ["%matplotlib inline\nimport waited_for", "x = 1", "import sys\nsys.exit(x + 1)"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (folder / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert watched(folder, "a.ipynb") == (Exit(2), [[{"n": 3}, True]])


def test_a_killed_program(folder: Path) -> None:
    (folder / "program.py").write_text("import os\nos.kill(os.getpid(), 9)")
    assert watched(folder, "program.py") == (Exit(128 + 9, "SIGKILL"), [])


@pytest.mark.parametrize("target", ["nowhere.py", "nowhere.ipynb", "no-such-launcher"])
def test_what_is_not_there(folder: Path, target: str) -> None:
    with pytest.raises(LaunchError, match=f"no such file: {target}"):
        watched(folder, target)


def test_an_environment_s_folder_names_its_interpreter(folder: Path) -> None:
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    assert Program(target="a.py", python=str(folder / "venv")).interpreter == str(python)
