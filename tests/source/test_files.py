from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from xlamig.config.settings import Settings
from xlamig.source.files import Discovery, discover, module_name

Write = Callable[..., None]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files below an empty working directory; "a/b.py" or "a/.gitignore=pattern,pattern"."""
    monkeypatch.chdir(tmp_path)

    def write(*files: str) -> None:
        for file in files:
            name, _, content = file.partition("=")
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(content.replace(",", "\n") + "\n")

    return write


def find(*paths: str, **settings: object) -> Discovery:
    chosen = replace(Settings(), **settings)  # type: ignore[arg-type]
    return discover([Path(path) for path in paths], lambda _: chosen)


def names(*paths: str, **settings: object) -> list[str]:
    return [file.name for file in find(*paths, **settings).files]


# ------------------------------------------------------------------------------ named paths


def test_nothing_named_is_nothing() -> None:
    assert find() == Discovery((), (), ())


@pytest.mark.parametrize("path", ["gone.py", "gone/sub", "a.py/b.py", "a\0b"])
def test_missing_path(tree: Write, path: str) -> None:
    tree("a.py")
    assert find(path).missing == (path,)


def test_other_files_are_quietly_left_out(tree: Write) -> None:
    tree("notes.md", "run=#!/bin/sh", "empty", "book.md={}")
    assert find("notes.md", "run", "empty", "book.md") == Discovery((), (), ())


@pytest.mark.parametrize("line", ["#!/usr/bin/env python3", "#!/usr/bin/python"])
def test_named_script_is_python_by_its_shebang(tree: Write, line: str) -> None:
    tree(f"train={line}")
    assert names("train") == ["train"]
    assert names(".") == []


def test_something_that_is_no_regular_file(tree: Write) -> None:
    os.mkfifo("pipe.py")
    assert find("pipe.py").skipped[0].reason == "not a regular file"
    assert find(".") == Discovery((), (), ())


def test_named_file_bypasses_excludes(tree: Write) -> None:
    tree("build/a.py", ".gitignore=a.py")
    assert names("build/a.py") == ["build/a.py"]


def test_force_exclude(tree: Write) -> None:
    tree("build/a.py", "b.py", ".gitignore=b.py")
    assert names("build/a.py", "build", "b.py", force_exclude=True) == ["b.py"]


@pytest.mark.parametrize("glob", ["build", "build/", "src/build", "src/*", "build,*.pyc"])
def test_named_folder_is_walked_though_ignored(tree: Write, glob: str) -> None:
    tree("src/build/pkg/a.py", "src/build/b.py", f".gitignore={glob}", ".git/HEAD")
    assert names("src/build") == ["src/build/b.py", "src/build/pkg/a.py"]
    assert names("src/build", exclude=("src/build",)) == ["src/build/b.py", "src/build/pkg/a.py"]
    assert names(".") == []


def test_excludes_hold_inside_a_named_folder_that_is_excluded(tree: Write) -> None:
    tree("build/a.py", "build/.venv/b.py", "build/c_gen.py", ".gitignore=build,*_gen.py", ".git/HEAD")
    assert names("build") == ["build/a.py"]


# ------------------------------------------------------------------------------------- walk


def test_walk_finds_python_only_sorted(tree: Write) -> None:
    tree("b.py", "a/z.pyi", "a/y.txt", "a.py", "c.ipynb", "d.pyc", ".hidden/e.py")
    assert names(".") == [".hidden/e.py", "a.py", "a/z.pyi", "b.py", "c.ipynb"]


def test_names_start_from_the_working_directory(tree: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    tree("here/a.py", "there/b.py")
    monkeypatch.chdir("here")
    (a, b) = find(".", "../there").files
    assert (a.name, b.name) == ("../there/b.py", "a.py")
    assert a.path == Path.cwd().parent / "there" / "b.py"


def test_same_file_once(tree: Write) -> None:
    tree("a/b.py")
    Path("link").symlink_to("a")
    Path("a/also.py").symlink_to("b.py")
    assert names("a/b.py", ".", "a", str(Path.cwd()), "link") == ["a/b.py"]


def test_links(tree: Write) -> None:
    tree("a/b.py", "other/c.py", "data/x")
    Path("a/loop").symlink_to("..")
    Path("a/other").symlink_to("../other")
    Path("a/.#b.py").symlink_to("nowhere")
    Path("a/self.py").symlink_to("self.py")
    Path("a/linked.py").symlink_to("../other/c.py")
    assert find("a").skipped == ()
    assert names("a") == ["a/b.py", "a/linked.py"]
    assert names("a/loop/a/other") == ["a/loop/a/other/c.py"]


def test_link_that_goes_in_circles_is_skipped_when_named(tree: Write) -> None:
    Path("self.py").symlink_to("self.py")
    assert [s.filename for s in find("self.py").skipped] == ["self.py"]


def test_large_file_is_skipped_and_says_why(tree: Write) -> None:
    tree("a.py=xxxxxxxxxx", "b.py")
    found = find(".", "a.py", max_file_size=5)
    assert [file.name for file in found.files] == ["b.py"]
    assert [(s.filename, s.reason) for s in found.skipped] == [("a.py", "11 bytes, above max-file-size = 5")]


def test_unreadable_folder_is_skipped(tree: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    tree("a/b.py", "c.py")
    scandir = os.scandir

    def refuse(path: str) -> object:  # permissions do not stop the superuser
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find(".")
    assert [file.name for file in found.files] == ["c.py"]
    assert [(s.filename, s.reason) for s in found.skipped] == [("a", "cannot be read: Permission denied")]


# --------------------------------------------------------------------------------- excludes


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("nothing", ["a.py", "build/a.py", "src/build/a.py", "src/builder.py"]),
        ("build", ["a.py", "src/builder.py"]),
        ("./src/build", ["a.py", "build/a.py", "src/builder.py"]),
        ("/build", ["a.py", "src/build/a.py", "src/builder.py"]),
        ("build*", ["a.py"]),
        ("src/*.py", ["a.py", "build/a.py", "src/build/a.py"]),
        ("**/build/*.py", ["a.py", "src/builder.py"]),
        ("a.py", ["src/builder.py"]),
    ],
)
def test_exclude(tree: Write, glob: str, left: list[str]) -> None:
    tree("a.py", "build/a.py", "src/build/a.py", "src/builder.py")
    assert names(".", exclude=(glob,)) == left


def test_exclude_by_absolute_path(tree: Write) -> None:
    tree("a/x.py", "b/a/x.py")
    assert names(".", exclude=(str(Path.cwd() / "a"),)) == ["b/a/x.py"]


def test_exclude_with_exception(tree: Write) -> None:
    tree("gen/a.py", "gen/keep.py")
    assert names(".", exclude=("gen/*", "!gen/keep.py")) == ["gen/keep.py"]


def test_extend_exclude_keeps_the_defaults(tree: Write) -> None:
    tree(".venv/a.py", "gen/a.py", "b.py")
    assert names(".", extend_exclude=("gen",)) == ["b.py"]


def test_root_elsewhere(tree: Write) -> None:
    tree("conf/gen/a.py", "gen/a.py")
    assert names(".", exclude=("/gen",), root=Path.cwd() / "conf") == ["gen/a.py"]


def test_each_folder_has_its_own_settings(tree: Write) -> None:
    tree("one/gen/a.py", "two/gen/a.py", "two/gen/deep/b.py")
    plain = Settings()
    nested = replace(plain, exclude=("gen",), root=Path.cwd() / "one")
    found = discover([Path()], lambda path: nested if "one" in path.parts else plain)
    assert [file.name for file in found.files] == ["two/gen/a.py", "two/gen/deep/b.py"]
    assert all(file.settings is plain for file in found.files)


# -------------------------------------------------------------------------------- gitignore


def test_gitignore_can_be_left_out_of_account(tree: Write) -> None:
    tree("a.py", ".gitignore=*.py")
    assert names(".", respect_gitignore=False) == ["a.py"]
    assert names(".") == []


def test_nested_gitignore_speaks_of_its_folder_and_wins(tree: Write) -> None:
    tree(".gitignore=gen.py,/top.py", "top.py", "gen.py", "a/top.py", "a/.gitignore=!gen.py,/b", "a/gen.py",
         "a/b/x.py", "b/x.py")  # fmt: skip
    assert names(".") == ["a/gen.py", "a/top.py", "b/x.py"]


def test_gitignore_above_holds_up_to_the_repository(tree: Write) -> None:
    tree(".gitignore=a.py", "repo/.git/HEAD", "repo/.gitignore=b.py", "repo/.git/info/exclude=c.py,!b.py")
    tree(*(f"repo/src/{name}.py" for name in "abcd"))
    assert names("repo/src") == ["repo/src/a.py", "repo/src/d.py"]


def test_gitignore_above_means_nothing_without_a_repository(tree: Write) -> None:
    tree(".gitignore=a.py", "src/a.py")
    assert names("src") == ["src/a.py"]


def test_repository_inside_is_its_own(tree: Write) -> None:
    tree(".git/HEAD", ".gitignore=a.py", "a.py", "sub/.git=gitdir: elsewhere", "sub/a.py")
    assert names(".") == ["sub/a.py"]


def test_a_folder_taken_back_in_does_not_take_its_files_along(tree: Write) -> None:
    tree(".git/info/exclude=a.py", ".gitignore=!src/", "src/a.py", "src/b.py")
    assert names(".") == ["src/b.py"]


@pytest.mark.parametrize("lines", ["src/**,!src/a.py", "/src/*,!a.py", "*,!*/,!a.py", "b.py,src/sub"])
def test_exception_below_an_ignored_folder(tree: Write, lines: str) -> None:
    tree(f".gitignore={lines}", "src/a.py", "src/b.py", "src/sub/b.py")
    assert names(".") == ["src/a.py"]


def test_nothing_comes_back_out_of_an_ignored_folder(tree: Write) -> None:
    tree(".gitignore=src/,!src/a.py", "src/a.py", "b.py")
    assert names(".") == ["b.py"]


@pytest.mark.parametrize("line", ["!", "/", "a[", "\\"])
def test_line_that_is_no_pattern_is_passed_over(tree: Write, line: str) -> None:
    tree(f".gitignore=b.py,{line},c.py", "a.py", "b.py", "c.py")
    assert names(".") == ["a.py"]


def test_gitignore_that_is_no_text(tree: Write) -> None:
    tree("a.py", "b.py")
    Path(".gitignore").write_bytes(b"\xff\xfe\nb.py\n")
    Path("sub").mkdir()
    Path("sub/.gitignore").mkdir()
    assert names(".") == ["a.py"]


# ------------------------------------------------------------------------------ module names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("script.py", "script"),
        ("src/plain.py", "plain"),
        ("src/pkg/__init__.py", "pkg"),
        ("src/pkg/mod.py", "pkg.mod"),
        ("src/pkg/sub/mod.py", "pkg.sub.mod"),
        ("src/pkg/sub/__init__.pyi", "pkg.sub"),
        ("src/pkg/data/mod.py", "mod"),
        ("my-tool/__init__.py", "__init__"),
        ("my-tool/mod.py", "mod"),
    ],
)
def test_module_name(tree: Write, path: str, name: str) -> None:
    tree("src/pkg/__init__.py", "src/pkg/sub/__init__.pyi", "my-tool/__init__.py")
    assert module_name(Path(path).absolute()) == name
