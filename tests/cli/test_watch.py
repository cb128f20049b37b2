"""`check --watch` shows all findings once, then what changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from xlamig.cli.options import OutputFlags
from xlamig.cli.output import Output
from xlamig.cli.watching import file_changes, interrupts, watch
from xlamig.engine import Options

SYNCHRONIZE = "import torch\n\ntorch.cuda.synchronize()\n"
MAIN = "from xlamig.cli import script; script()"
CHANGE = frozenset({"a change"})
SECOND_LOOK: frozenset[str] = frozenset()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "user"))
    (tmp_path / "one.py").write_text(SYNCHRONIZE)
    (tmp_path / "two.py").write_text(SYNCHRONIZE)
    return tmp_path


def shown(changes: Iterator[object], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the output after each change."""
    written: list[str] = []

    def recorded() -> Iterator[object]:
        for change in changes:
            yield change
            captured = capsys.readouterr()
            written.append(captured.out + captured.err)

    out = Output(OutputFlags(None, "never", False, 0))
    watch([Path()], Options(), out, "concise", recorded())
    return written


def test_shows_only_what_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def changes() -> Iterator[object]:
        yield SECOND_LOOK
        (project / "one.py").write_text("import torch\n")
        yield CHANGE
        yield CHANGE
        (project / "three.py").write_text(SYNCHRONIZE)
        yield CHANGE
        (project / "two.py").unlink()
        yield CHANGE
        (project / "xlamig.toml").write_text("select = 1\n")
        yield CHANGE

    first, mended, same, new, gone, broken = shown(changes(), capsys)
    assert "one.py:3" in first and "two.py:3" in first and "2 problems" in first
    assert "one.py: nothing left" in mended and "two.py" not in mended and "1 problem." in mended
    assert ".py" not in same and "1 problem." in same
    assert "three.py:3" in new and "two.py" not in new
    assert "two.py: nothing left" in gone
    assert "xlamig.toml" in broken


def test_a_second_look_shows_what_is_new_and_else_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def changes() -> Iterator[object]:
        yield SECOND_LOOK
        yield SECOND_LOOK
        (project / "one.py").write_text("import torch\n")
        yield SECOND_LOOK
        (project / "xlamig.toml").write_text("select = 1\n")
        yield SECOND_LOOK
        yield SECOND_LOOK

    first, same, mended, broken, still_broken = shown(changes(), capsys)
    assert "2 problems" in first and "1 problem." in mended and "xlamig.toml" in broken
    assert same == still_broken == ""


def test_looks_again_after_a_second_without_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    watchfiles = pytest.importorskip("watchfiles", reason="--watch is an extra")
    silence = [SECOND_LOOK] * 9
    events = [*silence, CHANGE, CHANGE, SECOND_LOOK, CHANGE, *silence]
    monkeypatch.setattr(watchfiles, "watch", lambda *paths, **options: iter(events))
    look, again, *rest = file_changes([Path()], Event())
    assert not look and not again
    assert rest == [CHANGE, CHANGE, CHANGE, SECOND_LOOK]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as in a terminal: what a script starts with `&` ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_it_where_the_exception_is_dropped(tmp_path: Path, ctrl_c: None) -> None:
    pytest.importorskip("watchfiles", reason="--watch is an extra")
    with interrupts() as stop:
        with suppress(KeyboardInterrupt):  # as Python does in a destructor
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            list(file_changes([tmp_path], stop))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_stays_ignored(ctrl_c: None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts() as stop:
        signal.raise_signal(signal.SIGINT)
    assert not stop.is_set()


@pytest.mark.parametrize("other", ["--fix", "--diff", "--statistics", "--add-ignore"])
def test_does_nothing_else_besides(project: Path, invoke: Any, other: str) -> None:
    result = invoke("check", "--watch", other, ".")
    assert result.exit_code == 2
    assert "--watch only reports" in result.stderr


def test_watches_real_files_until_it_is_interrupted(project: Path, ctrl_c: None) -> None:
    pytest.importorskip("watchfiles", reason="--watch is an extra")
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "check", "--watch", "--output-format", "concise", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "WATCHFILES_FORCE_POLLING": "1"},
    )
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    assert any("2 problems" in line for line in lines)
    (project / "one.py").write_text(SYNCHRONIZE * 2)
    assert any("3 problems" in line for line in lines)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
