from __future__ import annotations

from pathlib import Path

from small_project import check, codes, snapshot

from xlamig import engine
from xlamig.engine import Options

OPTIONS = Options({}, isolated=True, jobs=1, cache=False)


def test_nothing_is_reported_afterwards_but_what_has_no_comments(project: Path) -> None:
    before = len(check(cache=False).findings)
    ignored = engine.add_ignores([Path()], OPTIONS, "CUDA only")
    assert (ignored.findings, ignored.left) == (before - 1, 0)
    assert [(f.code, f.filename) for f in check(cache=False).findings] == [("XLA000", "broken.py")]
    assert "# xlamig: ignore[XLA005] CUDA only" in (project / "tools.py").read_text()


def test_a_second_run_writes_nothing(project: Path) -> None:
    engine.add_ignores([Path()], OPTIONS)
    after = snapshot(project)
    assert engine.add_ignores([Path()], OPTIONS).files == 0
    assert snapshot(project) == after


def test_only_what_is_selected_is_ignored(project: Path) -> None:
    engine.add_ignores([Path()], Options({"select": ["XLA006"]}, isolated=True, jobs=1, cache=False))
    assert codes(check(cache=False), "tools.py") == ["XLA005"]
