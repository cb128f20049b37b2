"""Repositories that a mirror lacks are named with the command that fetches them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.missing import main, repositories


def test_a_repository_of_the_mirror_is_not_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, *rest = repositories(["judged"])
    (tmp_path / first.replace("/", "+") / "repo" / "objects").mkdir(parents=True)
    main(["--mirror", str(tmp_path), "--for", "judged"])
    printed = capsys.readouterr()
    assert f"/{first} " not in printed.out
    assert f"git clone --quiet --bare https://github.com/{second} " in printed.out
    assert printed.err.startswith(f"{1 + len(rest)} of {2 + len(rest)} repositories are not in ")


def test_every_set_names_repositories() -> None:
    assert all("/" in name for name in repositories())
    assert {*repositories(["effort"])} < {*repositories()}
