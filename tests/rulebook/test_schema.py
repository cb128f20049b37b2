"""The JSON schemas of heads and tables, which editors use."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from xlamig.rulebook.errors import Where
from xlamig.rulebook.load import TABLE_FOLDERS
from xlamig.rulebook.page import split_page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import rule_schema  # noqa: E402

HEAD = Draft202012Validator(rule_schema.head_schema())
TABLE = Draft202012Validator(rule_schema.table_schema())


def head(**keys: Any) -> dict[str, Any]:
    return {"code": "XLA001", "name": "a-rule", "status": "stable"} | keys


def test_every_head_fits() -> None:
    for path in sorted((ROOT / "rules").glob("*/*.md")):
        parsed = tomllib.loads(split_page(path.read_text("utf-8"), Where(path.name))[0])
        assert [error.message for error in HEAD.iter_errors(parsed)] == [], path.name


def test_every_table_fits() -> None:
    for folder in TABLE_FOLDERS:
        for path in sorted((ROOT / "rules" / folder).glob("*.toml")):
            parsed = tomllib.loads(path.read_text("utf-8"))
            assert [error.message for error in TABLE.iter_errors(parsed)] == [], path.name


@pytest.mark.parametrize(
    "keys",
    [
        {"mesage": "x"},
        {"code": "XLA1"},
        {"match": [{"fact": "api-use", "nmae": "torch.f"}]},
        {"verdict": [{"target": "torch_xal"}]},
        {"verdict": [{"target": []}]},
        {"fix": [{"strategy": "drop-argumentt", "applicability": "safe"}]},
        {"fix": [{"strategy": "drop-argument", "applicability": "safe"}]},
        {"fix": [{"strategy": "accumulate", "applicability": "safe", "argument": "x"}]},
    ],
)
def test_a_mistake_does_not_fit(keys: dict[str, Any]) -> None:
    assert list(HEAD.iter_errors(head())) == []
    assert list(HEAD.iter_errors(head(**keys)))


def test_the_schemas_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["rule_schema.py", "--check"])
    assert rule_schema.main() == 0
