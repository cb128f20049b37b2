from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.fix.write import WriteError, write_files


def write_file(path: Path, content: bytes) -> None:
    write_files({path: content})


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.suffix == ".tmp"]


def test_read_only_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # tests may run as root
    with pytest.raises(WriteError) as error:
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert "\n" not in str(error.value)
    assert "read-only" in str(error.value)


def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


def test_failure_while_staging_changes_no_file(tmp_path: Path) -> None:
    first = tmp_path / "a.py"
    first.write_bytes(b"old")
    helper = tmp_path / "helper.py"
    with pytest.raises(WriteError):
        write_files({first: b"new", tmp_path / "no" / "b.py": b"new"}, {helper: b"helper"})
    assert first.read_bytes() == b"old"
    assert not helper.exists()


def test_failure_while_replacing_takes_the_helper_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, helper = tmp_path / "a.py", tmp_path / "helper.py"
    path.write_bytes(b"old")
    real = Path.replace

    def fails_on_change(self: Path, target: Path) -> Path:
        if Path(target).name == "a.py":
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fails_on_change)
    with pytest.raises(WriteError):
        write_files({path: b"new"}, {helper: b"helper"})
    assert path.read_bytes() == b"old"
    assert not helper.exists()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_every_file_is_old_or_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    paths = [tmp_path / f"{name}.py" for name in "abc"]
    for path in paths:
        path.write_bytes(b"old")
    real, calls = Path.replace, []

    def fails_once(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == failing:
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fails_once)
    with pytest.raises(WriteError):
        write_files(dict.fromkeys(paths, b"new"))
    assert [p.read_bytes() for p in paths] == [b"new"] * (failing - 1) + [b"old"] * (4 - failing)
    assert leftovers(tmp_path) == []


def test_somebody_elses_file_is_not_overwritten_by_a_helper(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_bytes(b"mine")
    with pytest.raises(WriteError, match="exists"):
        write_files({}, {helper: b"ours"})
    assert helper.read_bytes() == b"mine"


def test_a_helper_that_is_there_already_is_no_error(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    write_files({}, {helper: b"ours"})
    write_files({}, {helper: b"ours"})
    assert helper.read_bytes() == b"ours"


def test_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.py"
    path.write_bytes(b"old")
    path.chmod(0o750)
    write_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def test_symlink_stays_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.py", tmp_path / "a.py"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_symlink_loop_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    with pytest.raises(WriteError) as error:
        write_file(tmp_path / "a.py", b"new")
    assert "\n" not in str(error.value)


@given(st.binary())
def test_any_bytes_arrive(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("w") / "a.py"
    write_file(path, content)
    assert path.read_bytes() == content
