"""The command as its own process: start-up, streams and signals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import xlamig
from xlamig.cli import main

_RUN = """
import sys
from xlamig.cli import main
sys.argv = ["xlamig", *sys.argv[1:]]
try:
    main()
finally:
    heavy = ("libcst", "rich", "torch", "xlamig.rulebook", "xlamig.engine", "xlamig.flow")
    print(*sorted(name for name in sys.modules if name.startswith(heavy)), file=sys.stderr)
"""


def run(*args: str, code: str = _RUN, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "", **extra}
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize(
    "args", [("--help",), ("--version",), ("version",), ("check", "--help"), ("plan", "--help")]
)
def test_help_and_version_import_nothing_heavy(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.returncode, result.stderr.strip()) == (0, "")


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "xlamig", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, xlamig.__version__ in result.stdout) == (0, True)


def test_version() -> None:
    assert run("--version").stdout == run("version").stdout == f"xlamig {xlamig.__version__}\n"


_SAY = """
import sys
import click
from xlamig.cli import main, xlamig

say = click.Command("say", callback=lambda: click.echo("\\u6570"))
xlamig.get_command = lambda context, name: say
sys.argv = ["xlamig", "say"]
main()
"""


def test_a_latin_terminal_gets_escapes_not_a_traceback() -> None:
    result = run(code=_SAY, PYTHONIOENCODING="latin-1")
    assert (result.returncode, result.stdout) == (0, "\\u6570\n")


def test_interrupted(
    engine: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.error = KeyboardInterrupt()  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "argv", ["xlamig", "check"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130
    assert capsys.readouterr().err.strip() == ""


def test_a_path_alone_is_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("import torch\ntorch.cuda.synchronize()\n")
    monkeypatch.setattr(sys, "argv", ["xlamig", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert "XLA005" in capsys.readouterr().out


def test_a_usage_error_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["xlamig", "bogus"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "no command 'bogus'" in capsys.readouterr().err
