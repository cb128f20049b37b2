"""Interpreters that lack something are refused in one line that says how to get it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from xlamig.cli import xlamig
from xlamig.observe import interpreters
from xlamig.observe.program import LaunchError


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for kind in interpreters.KINDS.values():
        monkeypatch.delenv(kind.variable, raising=False)


def python(folder: Path, answer: object) -> str:
    """An interpreter that has what it says."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[3, 12, 1], {"jax": None, "libtpu": None}], "jax and libtpu are not installed"),
        ([[3, 12, 1], {"jax": "0.10.2", "libtpu": None}], "libtpu is not installed"),
        (
            [[3, 10, 4], {"jax": "0.6", "libtpu": "0.0.5"}],
            "is Python 3.10.4: xlamig needs 3.11 or later there",
        ),
        ("nonsense", "does not run as a Python"),
    ],
)
def test_what_is_missing_is_said(answer: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=said):
        interpreters.need("fit", python(tmp_path, answer))


def test_an_interpreter_that_has_everything_is_used(tmp_path: Path) -> None:
    path = python(tmp_path, [[3, 12, 1], {"jax": "0.10.2", "libtpu": "0.0.52"}])
    assert interpreters.need("fit", path).python == path


def test_the_option_wins_over_the_variable_the_configuration_and_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = interpreters.KINDS["fit"]
    assert interpreters.candidate(kind, None) == sys.executable
    made = python(interpreters.environment(kind) / "bin", [])
    assert interpreters.candidate(kind, None) == made
    configured = python(tmp_path / "configured", [])
    (tmp_path / "xlamig.toml").write_text('compiler-python = "configured/python"')
    monkeypatch.chdir(tmp_path)
    assert interpreters.candidate(kind, None) == configured
    named = python(tmp_path / "named", [])
    monkeypatch.setenv(kind.variable, named)
    assert interpreters.candidate(kind, None) == named
    given = python(tmp_path / "given", [])
    assert interpreters.candidate(kind, given) == given


@pytest.mark.parametrize("kind", interpreters.KINDS.values(), ids=interpreters.KINDS)
def test_every_interpreter_has_a_key_of_the_configuration(
    kind: interpreters.Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.xlamig]\n{kind.key} = "nowhere"')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaunchError, match=r"no such interpreter: .*nowhere"):
        interpreters.candidate(kind, None)


def test_doctor_says_how_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(
        "XLAMIG_COMPILER_PYTHON", python(tmp_path, [[3, 12, 1], {"jax": None, "libtpu": None}])
    )
    result = CliRunner().invoke(xlamig, ["doctor"])
    assert result.exit_code == 1
    assert "xlamig setup fit (pip install jax==0.10.2 libtpu==0.0.52)" in result.output
    assert "Google Cloud Platform Terms of Service" in result.output


def test_an_installation_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(LaunchError, match="this failed: /bin/false -m venv --clear"):
        interpreters.make(interpreters.KINDS["fit"])


def test_doctor_in_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XLAMIG_COMPILER_PYTHON", "/nowhere/python")
    output = CliRunner().invoke(xlamig, ["doctor", "--output-format", "json"]).output
    rows = json.loads(output)["interpreters"]
    assert [row["name"] for row in rows] == ["trace", "fit", "dryrun"]
    assert rows[1]["error"] == "no such interpreter: /nowhere/python"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit"], "name a PROGRAM, or a saved graph with --from"),
        (["fit", "--chip", "v9", "a.py"], "libtpu does not compile for 'v9'"),
        (["fit", "--batch-size", "many", "a.py"], "expected NAME=LIST"),
        (["fit", "--from", "nowhere.mlirbc"], "no such file: nowhere.mlirbc"),
        (["fit", "--from", "a.py"], "a.py is no StableHLO module"),
        (["fit", "nowhere.py"], "no such file: nowhere.py"),
        (["dryrun", "a.py"], "--target"),
        (["plan", "--fit", "nowhere.json"], "nowhere.json"),
        (["plan", "--gpu", "h100"], "--gpu needs --hours and --tpu, or --fit"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    has_all = python(tmp_path / "has", [[3, 12, 1], {"jax": "0.10.2", "libtpu": "0.0.52"}])
    monkeypatch.setenv("XLAMIG_COMPILER_PYTHON", has_all)
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import torch")
    result = CliRunner().invoke(xlamig, arguments)
    assert result.exit_code == 2
    assert said in result.output and "Traceback" not in result.output
