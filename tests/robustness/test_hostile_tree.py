"""A folder that somebody else made: whatever lies in it, a run ends, and touches nothing outside."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from runs import GOOD, Check

from xlamig import engine
from xlamig.cli import xlamig
from xlamig.engine import Options

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and devices of Unix")

DOCUMENTS = ("README.md", "run.sh", "requirements.txt", "Dockerfile", "config.yaml", ".gitignore")
FORMATS = ("concise", "full", "grouped", "github", "gitlab", "junit", "markdown", "sarif", "json")


def codes(check: Check) -> list[str]:
    return [finding.code for finding in check({"good.py": GOOD}).findings]


def a_socket(path: Path) -> None:
    os.chdir(path.parent)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [os.mkfifo, a_socket, a_device])
@pytest.mark.parametrize("name", ["a.py", "a.ipynb", "pyproject.toml", "xla_compat.py", *DOCUMENTS])
def test_what_has_no_end_is_not_read(
    check: Check, tmp_path: Path, make: Callable[[Path], None], name: str
) -> None:
    (tmp_path / ".git").mkdir()
    make(tmp_path / name)
    assert codes(check) == ["XLA005"]


def test_a_page_that_has_no_end_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_bytes(GOOD)
    (tmp_path / "rules").mkdir()
    os.mkfifo(tmp_path / "rules" / "ACME001-pipe.md")
    (tmp_path / "xlamig.toml").write_text('rules = ["rules"]\n')
    result = CliRunner().invoke(xlamig, ["check", "--no-cache", "."])
    assert result.exit_code == 2 and "not a regular file" in result.output
    assert "Traceback" not in result.output


def test_a_file_that_others_may_not_read_is_named(check: Check, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "closed.py").write_bytes(GOOD)
    (tmp_path / "closed.py").chmod(0)
    assert sorted(codes(check)) == ["XLA000", "XLA005"]


NAMES = [b"new\nline.py", b"\x1b[31mred\x1b]0;title\x07.py", b"\xff\xfe.py", b"a,b:c%0A.py", b"<b>&'\".py"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", FORMATS)
def test_names_do_not_steer_a_terminal_or_break_a_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes, output: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(name)).write_bytes(GOOD)
    result = CliRunner().invoke(xlamig, ["check", "--isolated", "--no-cache", "--output-format", output, "."])
    assert result.exit_code == 1, result.output
    assert not {"\x1b", "\x07"}.intersection(result.output)
    assert not any(line.startswith("line.py") for line in result.output.splitlines())
    if output in ("gitlab", "sarif", "json"):
        assert json.loads(result.stdout)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file beside a repository `tree`."""
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    path = tmp_path / "outside.py"
    path.write_bytes(b"import torch\nx = torch.ones(2).cuda()\n")
    return path


def fixed(folder: Path) -> engine.FixOutcome:
    return engine.fix([folder], Options(isolated=True, jobs=1, cache=False), {"safe"}, write=True)


@pytest.mark.parametrize("named", [False, True])
def test_a_link_out_of_the_repository_is_not_written_through(outside: Path, named: bool) -> None:
    before, link = outside.read_bytes(), outside.parent / "tree" / "link.py"
    link.symlink_to(outside)
    (problem,) = fixed(link if named else link.parent).problems
    assert "out of its repository" in problem
    assert outside.read_bytes() == before


def test_a_link_inside_the_repository_is_written_through(outside: Path) -> None:
    tree = outside.parent / "tree"
    (tree / "pkg").mkdir()
    inside = outside.rename(tree / "pkg" / "inside.py")
    link = tree / "link.py"
    link.symlink_to(inside)
    assert not fixed(link).problems
    assert link.is_symlink() and b".cuda()" not in inside.read_bytes()
