"""The tables of packages say one thing, and say where it is from."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "rules" / "packages"
TARGETS = ("torch_xla", "torch_tpu")
STATUS = {"works", "host", "option", "none", "idle", "wheels", "conda", "unknown"}


def rows(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["row"]
    return found


REQUIRED = rows("requirements")
STACKS = {name: row for name, row in rows("stacks").items() if row["family"] != "xla"}


@pytest.mark.parametrize("name", REQUIRED)
def test_a_requirement_has_a_status_and_a_source(name: str) -> None:
    row = REQUIRED[name]
    assert {row["support"][target] for target in TARGETS} <= STATUS
    assert row["source"].startswith("https://") and row["title"]
    assert row.get("measured", "2026-11").endswith("2026-11")


@pytest.mark.parametrize("name", REQUIRED)
def test_a_requirement_without_support_says_why_and_what_to_do(name: str) -> None:
    row = REQUIRED[name]
    support = set(row["support"].values())
    assert "none" not in support or (row["why"] and row["instead"])
    assert "option" not in support or (row["says"] and row["instead"])


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_says_since_when_what_changes_and_what_was_read(name: str) -> None:
    row = STACKS[name]
    assert {row["support"][target] for target in TARGETS} <= {"works", "option", "none", "unknown"}
    assert all(row["since"][target] for target in TARGETS) and row["read"]
    assert "instead" in row or all(row["changes"][target] for target in TARGETS)
    assert all(row["how"][target] for target in TARGETS if row["support"][target] == "option")
    assert row["source"].startswith("https://")


@pytest.mark.parametrize("name", sorted(STACKS.keys() & REQUIRED.keys()))
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_imported_and_what_is_required_agree(name: str, target: str) -> None:
    said = {table[name]["support"][target] for table in (STACKS, REQUIRED)}
    assert len(said - {"unknown"}) <= 1


def test_the_packages_met_most_were_tried() -> None:
    assert sum("measured" in row for row in REQUIRED.values()) >= 40


def test_versions_are_said_where_they_are_known() -> None:
    assert sum("since" in row for row in REQUIRED.values()) >= 20
