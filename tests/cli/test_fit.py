"""Every end of `fit` has one message and one exit code; the compiler's answers are recorded ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click.testing
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fit_sample import RECORDED
from xlamig.cli import xlamig
from xlamig.observe.fitting.ends import MEANINGS, End

VERSIONS = json.dumps([[3, 12, 1], {"jax": "0.10.2", "libtpu": "0.0.52"}])
OLD = json.dumps([[3, 10, 4], {"jax": "0.6", "libtpu": "0.0.5"}])
BARE = json.dumps([[3, 12, 1], {"jax": "0.10.2", "libtpu": None}])
ABORT = "echo 'F1122 Check failed: fusion_util.cc:12' >&2; exit 134"


def interpreter(folder: Path, versions: str, compiling: str) -> str:
    """A Python that says which packages it has, and compiles by running `compiling`: $result and $dump
    are where the answer and the compiler's dump go."""
    path = folder / "compiler"
    path.write_text(
        "#!/bin/sh\n"
        f"case \"$2\" in *importlib.metadata*) echo '{versions}'; exit;; esac\n"
        'result="$5"; dump=$(dirname "$5")/dump; mkdir -p "$dump"\n'
        f"{compiling}\n"
    )
    path.chmod(0o755)
    return str(path)


def recorded(name: str) -> str:
    return f'cp {RECORDED / name}/module.* "$dump"; cp {RECORDED / name}/result.json "$result"'


def refused(message: str) -> str:
    return f"echo '{json.dumps({'error': message, 'type': 'JaxRuntimeError'})}' > \"$result\""


def fit(*arguments: str) -> tuple[int, str]:
    result = click.testing.CliRunner().invoke(xlamig, ["fit", "--chip", "v5e", *arguments])
    return result.exit_code, result.output


def fit_saved(name: str, folder: Path, compiler: str, *arguments: str) -> tuple[int, str]:
    step = folder / "step.mlirbc"
    step.write_bytes((RECORDED / "small" / "step.mlirbc").read_bytes())  # a fake compiler does not read it
    (folder / "step.json").write_text((RECORDED / name / "step.json").read_text())
    return fit("--from", str(step), "--compiler-python", compiler, *arguments)


@pytest.mark.parametrize(
    ("name", "versions", "compiling", "end", "said"),
    [
        ("small", VERSIONS, recorded("small"), End.FITS, "TPU v5e: fits: 3.88 MiB of 15.8 GiB"),
        ("large", VERSIONS, recorded("large"), End.TOO_LARGE, "largest buffers at the peak\n       16 GiB"),
        ("small", VERSIONS, refused("INVALID_ARGUMENT: X64"), End.REFUSED, "INVALID_ARGUMENT: X64"),
        ("small", VERSIONS, ABORT, End.ABORTED, "Check failed: fusion_util.cc:12"),
        ("small", BARE, ABORT, End.MISSING_PACKAGE, "libtpu is not installed"),
        ("small", OLD, ABORT, End.OLD_PYTHON, "is Python 3.10.4: xlamig needs 3.11 or later there"),
    ],
    ids=["fits", "too large", "refused", "aborted", "no libtpu", "old Python"],
)  # fmt: skip
def test_an_end_of_the_compiler(
    name: str, versions: str, compiling: str, end: End, said: str, tmp_path: Path
) -> None:
    code, output = fit_saved(name, tmp_path, interpreter(tmp_path, versions, compiling))
    assert (code, said in output) == (end, True), output


def test_a_graph_that_cannot_be_sharded(tmp_path: Path) -> None:
    code, output = fit_saved("small", tmp_path, interpreter(tmp_path, VERSIONS, ABORT), "--chips", "3")
    assert (code, output.count("libtpu has no slice of 3 chips")) == (End.NOT_SHARDED, 2)


@pytest.mark.parametrize(
    ("answer", "end", "said"),
    [
        ("echo 3 12 1; exit 1", End.MISSING_PACKAGE, "torch_xla is not installed"),
        ("echo 3 9 18; exit 1", End.OLD_PYTHON, "is Python 3.9.18: xlamig needs 3.11 or later there"),
        ("exit 1", End.WRONG_USAGE, "does not run as a Python"),
    ],
)
def test_an_interpreter_of_the_program_that_does_not_do(
    answer: str, end: End, said: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    compiler = interpreter(tmp_path, VERSIONS, ABORT)
    code, output = fit("--compiler-python", compiler, "--python", str(python), str(tmp_path / "train.py"))
    assert (code, output.count("\n"), said in output) == (end, 2, True), output


def test_the_exit_codes_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fit.md").read_text()
    shown = click.testing.CliRunner().invoke(xlamig, ["fit", "--help"]).output
    for end, meaning in MEANINGS.items():
        assert f"| {end} | {meaning}" in page
        assert f"{end:2}  {meaning}" in shown
