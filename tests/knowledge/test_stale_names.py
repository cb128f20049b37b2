"""The rule book's names of torch_xla, against the releases that have them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xlamig.config.book import find_book
from xlamig.config.settings import Settings
from xlamig.knowledge.operators import DATA
from xlamig.rulebook.errors import Where
from xlamig.rulebook.page import read_toml
from xlamig.rulebook.tables import Row, read_table

NAMES: dict[str, Any] = json.loads((DATA / "versions-torch_xla.json").read_text("utf-8"))["names"]
LATE = [name for name, known in NAMES.items() if known.get("versions") == "<2.7.0" and "deprecated" in known]


def row(name: str, version: str) -> Row:
    where = Where("api/stale-torch-xla.toml")
    data = read_toml((find_book() / "api" / "stale-torch-xla.toml").read_text("utf-8"), where)
    settings = Settings(target="torch_xla", target_version=version)
    return read_table("stale-torch-xla", "api", data, where, settings).rows[name]


def test_some_names_were_deprecated_before_they_went() -> None:
    assert {name.rpartition(".")[2] for name in LATE} == {"get_ordinal", "parse_xla_device", "xrt_world_size"}


@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize(("version", "severity"), [("2.5", "info"), ("2.6.1", "info"), ("2.7", "error")])
def test_a_deprecated_name_is_no_error_yet(name: str, version: str, severity: str) -> None:
    assert row(name, version).rulings["torch_xla"].severity == severity
