"""Options whose values are members of an enumeration."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

POOLING = """import torch
from enum import Enum

class Pool(BASES):
    MEAN = VALUES[0]
    LAST = VALUES[1]

class Settings:
    MEAN = "mean"
    LAST = "last"

def pool(x, how=DEFAULT):
    if TEST:
        torch.cuda.synchronize()
    return x
"""
MAIN = """import torch
from pooling import Pool, Settings, pool

def main():
    x = torch.ones(3)
    print(CALL)

main()
"""


def severities(
    folder: Path,
    call: str = "pool(x)",
    test: str = "how is Pool.LAST",
    default: str = "Pool.MEAN",
    bases: str = "Enum",
    values: tuple[str, str] = ("'mean'", "'last'"),
) -> list[str]:
    text = POOLING.replace("DEFAULT", default).replace("TEST", test).replace("BASES", bases)
    for i, value in enumerate(values):
        text = text.replace(f"VALUES[{i}]", value)
    (folder / "pooling.py").write_text(text)
    (folder / "main.py").write_text(MAIN.replace("CALL", call))
    select = {"select": ["XLA005"]}
    report = engine.check([folder], Options(select, isolated=True, jobs=1, cache=False))
    return [finding.severity for finding in report.findings]


@pytest.mark.parametrize("test", ["how is Pool.LAST", "how == Pool.LAST", "how is not Pool.MEAN"])
@pytest.mark.parametrize("values", [("'mean'", "'last'"), ("1", "2"), ("auto()", "auto()")])
def test_a_member_that_nothing_gives_is_off(test: str, values: tuple[str, str], tmp_path: Path) -> None:
    assert severities(tmp_path, test=test, values=values) == ["info"]


@pytest.mark.parametrize("bases", ["str, Enum", "StrEnum"])
def test_a_member_that_equals_its_text_is_that_text(bases: str, tmp_path: Path) -> None:
    assert severities(tmp_path, bases=bases) == ["info"]
    assert severities(tmp_path, bases=bases, test="how == 'mean'") == ["error"]
    assert severities(tmp_path, "pool(x, 'last')", bases=bases, test="how == Pool.LAST") == ["error"]


@pytest.mark.parametrize("call", ["pool(x, Pool.LAST)", "pool(x, how=Pool.LAST)", "pool(x, Pool('last'))"])
def test_a_member_that_a_call_gives_is_on(call: str, tmp_path: Path) -> None:
    assert severities(tmp_path, call) == ["error"]


def test_a_member_of_numbers_may_equal_a_number(tmp_path: Path) -> None:
    assert severities(tmp_path, test="how == 1", bases="IntEnum", values=("1", "2")) == ["error"]


def test_names_of_another_class_are_settings(tmp_path: Path) -> None:
    assert severities(tmp_path, test="how == Settings.LAST", default="Settings.MEAN") == ["error"]
