"""Revisions and files of folders, work trees and mirrors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.conftest import commit, git, mirror

from xlamig.fleet.job import Source
from xlamig.fleet.reading import SourceError, files_of, revision_of


def a_source(location: Path | str, **values: str) -> Source:
    return Source("it", str(location), **values)


def read(source: Source, scratch: Path) -> dict[str, str]:
    folder, _ = files_of(source, revision_of(source), scratch)
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize(
    "values", [{"revision": "no-such-branch"}, {"revision": "--upload-pack=touch x"}, {"folder": "no/such"}]
)
def test_says_what_a_mirror_does_not_have(tmp_path: Path, values: dict[str, str]) -> None:
    commit(tmp_path / "tree", {"a.py": ""})
    source = a_source(mirror(tmp_path / "tree", tmp_path / "it.git"), **values)
    with pytest.raises(SourceError):
        files_of(source, revision_of(source), tmp_path)


def test_says_that_a_repository_is_empty(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "it.git")
    with pytest.raises(SourceError):
        revision_of(a_source(tmp_path / "it.git"))


def test_says_that_a_folder_or_a_server_is_not_there(tmp_path: Path) -> None:
    for location in (tmp_path / "gone", f"file://{tmp_path}/gone.git", "ext::sh -c touch% x"):
        with pytest.raises(SourceError):
            revision_of(a_source(location))
    assert not Path("x").exists()


def test_reports_a_damaged_pack(tmp_path: Path) -> None:
    commit(tmp_path / "tree", {"a.py": "x = 1\n" * 500, "b.py": "y = 2\n" * 500})
    git(tmp_path, "clone", "-q", "--bare", f"file://{tmp_path}/tree", "it.git")
    (pack,) = (tmp_path / "it.git" / "objects" / "pack").glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(pack.read_bytes()[:40])
    source = a_source(tmp_path / "it.git")
    with pytest.raises(SourceError):
        files_of(source, revision_of(source), tmp_path)


def test_reads_a_mirror_at_a_revision(tmp_path: Path) -> None:
    first = commit(tmp_path / "tree", {"a.py": "old", "picture.png": "no code"})
    commit(tmp_path / "tree", {"a.py": "new"})
    source = a_source(mirror(tmp_path / "tree", tmp_path / "it.git"), revision=first[:10])
    assert revision_of(source) == first
    (tmp_path / "s").mkdir()
    assert read(source, tmp_path / "s") == {"a.py": "old"}


def test_counts_files_that_the_mirror_does_not_hold(tmp_path: Path) -> None:
    commit(tmp_path / "tree", {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    blob = git(tmp_path / "tree", "rev-parse", "HEAD:b.py")
    (tmp_path / "tree" / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    source = a_source(tmp_path / "tree", revision="HEAD")
    folder, missing = files_of(source, revision_of(source), tmp_path)
    assert [path.name for path in folder.iterdir()] == ["a.py"]
    assert missing == 1


def test_a_clone_without_work_tree_is_a_mirror(tmp_path: Path) -> None:
    commit(tmp_path / "tree", {"a.py": "x"})
    git(tmp_path, "clone", "-q", "--no-checkout", str(tmp_path / "tree"), str(tmp_path / "it"))
    assert read(a_source(tmp_path / "it"), tmp_path) == {"a.py": "x"}


def test_reads_from_a_url(tmp_path: Path) -> None:
    head = commit(tmp_path / "tree", {"a.py": "x", "sub/b.py": "y"})
    git(tmp_path / "tree", "tag", "-a", "v1", "-m", "first")
    bare = mirror(tmp_path / "tree", tmp_path / "it.git")
    source = a_source(f"file://{bare}", revision="v1", folder="sub")
    assert revision_of(source) == head
    assert read(source, tmp_path) == {"b.py": "y"}


def test_a_changed_work_tree_is_no_commit(tmp_path: Path) -> None:
    head = commit(tmp_path / "tree", {"a.py": "x"})
    source = a_source(tmp_path / "tree")
    assert revision_of(source) == head
    (tmp_path / "tree" / "new.py").write_text("y")
    changed = revision_of(source)
    assert changed.startswith("files:")
    (tmp_path / "tree" / "new.py").write_text("z")
    assert revision_of(source) != changed


def test_a_folder_outside_git_has_a_digest(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "notes.docx").write_text("x")
    before = revision_of(a_source(tmp_path))
    (tmp_path / "notes.docx").write_text("y")
    assert revision_of(a_source(tmp_path)) == before
    (tmp_path / "a.py").write_text("y")
    assert revision_of(a_source(tmp_path)) != before


def test_files_that_git_ignores_are_outside_it(tmp_path: Path) -> None:
    commit(tmp_path, {".gitignore": "build/\n"})
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.py").write_text("x")
    assert revision_of(a_source(tmp_path / "build")).startswith("files:")
