"""The helper module that fixes write is not held against the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig.engine import check
from xlamig.engine.options import Options
from xlamig.fix.helper_text import MARKER, TEXT


@pytest.mark.parametrize(
    ("text", "found"), [(TEXT, False), (TEXT.removeprefix(f"{MARKER}\n"), True), (f"#\n{TEXT}", True)]
)
def test_reports_nothing_for_the_helper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xla_compat.py").write_text(text)
    options = Options({"include-no-action": True}, jobs=1, cache=False)
    assert bool(check([Path()], options).findings) is found
