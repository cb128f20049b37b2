"""The pages of the book keep what they say: their examples are programs, checked like any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.config.settings import TARGETS, Settings
from xlamig.rulebook import load
from xlamig.rulebook.rule import Rule

BOOK = load(Settings(preview=True))
RULES = [rule for rule in BOOK.rules if rule.status != "withdrawn"]
BLOCK = re.compile(r"```([\w-]+)\n(.*?)```", re.DOTALL)
FILES = {  # what a block is a file of; Python first
    "python": "example.py",
    "pip-requirements": "requirements.txt",
    "dockerfile": "Dockerfile",
    "yaml": "example.yaml",
    "sh": "example.sh",
    "cuda": "example.cu",
}
NOT_PYTHON = {"XLA602", "XLA909", "XLA910", "XLA911", "XLA912"}
MARK = re.compile(r"(?:#|//) expect(?:\[(\w+)\])?: ((?:XLA\d{3}(?:, )?)+)")


def block(rule: Rule, section: str) -> tuple[str, str] | None:
    """The name of the file and its text."""
    found = BLOCK.findall(rule.sections[section])
    own = FILES if rule.code in NOT_PYTHON else ("python",)
    return next(((FILES[tag], text) for tag in own for other, text in found if tag == other), None)


def reported(code: tuple[str, str], rule: str, target: str) -> set[int]:
    overrides = {"select": [rule], "target": target, "preview": True}
    name, text = code
    options = engine.Options(overrides=overrides, isolated=True, stdin=(name, text.encode()), whole=True)
    return {finding.place.location.row for finding in engine.check([Path(name)], options).findings}


def marked(code: tuple[str, str], rule: str, target: str) -> set[int]:
    """Rows with a mark; one alone on its line is for the next."""
    return {
        row + line.lstrip().startswith(("# expect", "// expect"))
        for row, line in enumerate(code[1].splitlines(), 1)
        for only, codes in MARK.findall(line)
        if rule in codes and only in ("", target)
    }


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_example_is_reported_on_its_marked_lines(rule: Rule, target: str) -> None:
    code = block(rule, "Example")
    if code is not None:
        assert reported(code, rule.code, target) == marked(code, rule.code, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_what_to_use_instead_is_silent(rule: Rule, target: str) -> None:
    code = block(rule, "Use instead")
    if code is not None:
        assert reported(code, rule.code, target) == set()


def test_rules_about_programs_have_examples() -> None:
    assert [rule.code for rule in RULES if block(rule, "Example") is None and rule.code < "XLA090"] == [
        "XLA000"
    ]
    assert not [rule.code for rule in RULES if block(rule, "Example") is None and rule.code > "XLA100"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_verdict_gives_a_reason(rule: Rule) -> None:
    assert all(rule.reason or verdict.ruling.reason for verdict in rule.verdicts)
