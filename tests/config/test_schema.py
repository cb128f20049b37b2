from __future__ import annotations

import pickle
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from xlamig.config.load import Resolver
from xlamig.config.schema import EFFORT_KEYS, KEYS, describe, to_toml
from xlamig.config.settings import EffortSettings, Settings
from xlamig.config.toml import literal


def test_every_setting_has_a_key() -> None:
    assert {key.field for key in KEYS} | {"effort", "root", "source"} == {f.name for f in fields(Settings)}
    assert {key.field for key in EFFORT_KEYS} == {f.name for f in fields(EffortSettings)}


def test_description_shows_default_and_type() -> None:
    found = {item.key: item for item in describe()}
    assert found["max-file-size"][1:3] == ("a whole number from 1", "2000000")
    assert found["strategy"].default == '"portable"'
    assert found["cache-dir"].default == "unset"
    assert found["effort.exponent"].default == "0.68"
    assert all(item.meaning and "\n" not in item.meaning for item in found.values())


def test_defaults_are_accepted_values() -> None:
    plain = Settings()
    assert Resolver(tomllib.loads(to_toml(plain)), isolated=True).settings_for(Path()) == plain


TEXT = st.text(min_size=1)
WORDS = st.lists(TEXT, max_size=3)


@given(
    WORDS,
    st.dictionaries(st.from_regex(r"[\w*/.\- \"'é]*\w", fullmatch=True), WORDS, max_size=3),
    st.floats(0.01, 1),
)
def test_toml_gives_the_settings_again(
    codes: list[str], per_file: dict[str, list[str]], exponent: float
) -> None:
    table = {
        "select": codes,
        "per-file-ignores": per_file,
        "effort": {"exponent": exponent, "levels": {"info": [0, 1]}},
    }
    before = Resolver(table, isolated=True).settings_for(Path())
    after = Resolver(tomllib.loads(to_toml(before)), isolated=True).settings_for(Path())
    assert after == before
    assert pickle.loads(pickle.dumps(before)) == before


SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(allow_nan=False)


@given(st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=8))
def test_literal_is_toml(value: object) -> None:
    assert tomllib.loads(f"x = {literal(value)}") == {"x": value}


def test_settings_and_files_need_no_parser_and_no_terminal() -> None:
    code = (
        "import sys, xlamig.config.load, xlamig.config.select, xlamig.source.files, xlamig.source.suppress;"
        "print(sorted({'libcst', 'rich', 'click', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
