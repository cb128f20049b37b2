from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from xlamig import engine
from xlamig.cli.rule_new import command


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one preview rule, ACME001."""
    scaffold = ["ACME001", "own-rule", "--dir", str(tmp_path), "--fixtures", str(tmp_path / "none")]
    assert CliRunner().invoke(command, scaffold).exit_code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("selectors", "preview", "expected"),
    [
        (["ALL"], False, ()),
        (["XLA005"], False, ()),
        (["ACME"], True, ()),
        (["XLA005", "acme001"], False, ("acme001",)),
        (["own-rule"], False, ("own-rule",)),
    ],
)
def test_names_selectors_of_preview_rules(
    own: Path, selectors: list[str], preview: bool, expected: tuple[str, ...]
) -> None:
    overrides = {"select": selectors, "rules": [str(own)], "preview": preview}
    assert engine.previews(own, engine.Options(overrides, isolated=True, cache=False)) == expected
