"""Fixes keep line ends, indentation and a byte order mark, whatever they are.

Fixing a file that was changed in one of these gives the fixed file with the same change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from xlamig import engine

FIXTURES = Path(__file__).parents[2] / "fixtures"
RULES = sorted({path.parts[-3] for path in FIXTURES.glob("XLA*/*/fixed.py")})


def windows(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def tabs(text: str) -> bytes:
    return re.sub(r"^(?:    )+", lambda m: "\t" * (len(m[0]) // 4), text, flags=re.M).encode()


def marked(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.encode()


def no_last_newline(text: str) -> bytes:
    return text.rstrip("\n").encode()


def fix(folder: Path, rule: str) -> engine.FixOutcome:
    overrides = {"select": [rule], "include-unused": True}
    options = engine.Options(overrides, isolated=True, cache=False, jobs=1, whole=True)
    return engine.fix([Path("bad.py")], options, {"safe", "unsafe"}, write=True)


CHANGES = [
    pytest.param(windows, id="windows"),
    pytest.param(tabs, id="tabs", marks=pytest.mark.slow),
    pytest.param(marked, id="marked", marks=pytest.mark.slow),
    pytest.param(no_last_newline, id="no_last_newline", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_fix_keeps_to_the_file_it_changes(
    rule: str, change: Callable[[str], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = next(path.parent for path in sorted(FIXTURES.glob(f"{rule}/*/fixed.py")))
    bad, fixed = (case / name for name in ("bad.py", "fixed.py"))
    target = tmp_path / "bad.py"
    target.write_bytes(change(bad.read_text()))
    monkeypatch.chdir(tmp_path)
    fix(tmp_path, rule)
    assert target.read_bytes() == change(fixed.read_text())
    assert fix(tmp_path, rule).files == ()
