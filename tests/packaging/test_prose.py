"""The style check of messages and documents."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from check_prose import (  # noqa: E402
    GENERATED,
    SCAFFOLD,
    code,
    documents,
    of_sentence,
    of_source,
    pages,
    prose,
    rules,
)


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("message", "`{spelled}` reads `{tensor}` on the host every step"),
        ("message", "{subject}: {amount}; none of it runs on a TPU"),
        ("help", "Use `torch.where(mask, x, 0)` instead of `x[mask]`"),
        ("reason", "1 extra execution and 1 transfer per step (measured)"),
        ("title", "Add `drop_last=True`"),
        ("instead", "Require `faiss-cpu`, which searches on the host"),
        ("help", "On XLA call the function itself"),
        ("help", "{row.instead}"),
        ("advice", "Nothing to change if a phase begins here."),
        ("reason", "`x.rounds` and `told` are names"),
        (
            "message",
            "`" + "x" * 20 + "{a_name_that_does_not_count_because_it_is_filled_in_later}` " + "y" * 70,
        ),
    ],
)
def test_accepts_plain_sentences(key: str, sentence: str) -> None:
    assert list(of_sentence(key, sentence)) == []


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("message", "`x` is read on the host in each step"),
        ("message", "the host reads `x`"),
        ("message", "The host reads `x`."),
        ("message", "The host reads " + "x" * 100),
        ("help", "`torch.where(mask, x, 0)`"),
        ("help", "use `torch.where`"),
        ("help", "Optimizers of `torch.optim`"),
        ("instead", "torch operators"),
        ("says", "The package runs " + "x" * 100),
        ("reason", "the other arm runs"),
        ("reason", "XLA compiles anew"),
        ("title", "What the helper chose"),
    ],
)
def test_reports_what_the_style_guide_forbids(key: str, sentence: str) -> None:
    assert list(of_sentence(key, sentence))


def test_reads_no_code_tables_or_html() -> None:
    text = "a\n```\nin each step\n```\n| in each step |\n<b>in each step</b>\nb\n"
    assert [line for _, line in prose(text)] == ["a", "b"]


def test_reports_sections_that_nobody_filled_in(tmp_path: Path) -> None:
    page = tmp_path / "rules/device/XLA001-x.md"
    page.parent.mkdir(parents=True)
    page.write_text(SCAFFOLD.read_text("utf-8"), "utf-8")
    left = [violation.text for violation in pages(tmp_path / "rules")]
    assert [f"## {section}" for section in ("What it does", "Known limits", "References")] == [
        text for text in left if text in ("## What it does", "## Known limits", "## References")
    ]


def test_reports_a_grade_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "rules/device/XLA001-x.md"
    page.parent.mkdir(parents=True)
    page.write_text("+++\n+++\n# x\n\n## Fix safety\n\nShown. It changes the type.\n", "utf-8")
    assert [violation.problem for violation in pages(tmp_path / "rules")] == [GENERATED]


def test_rule_pages_hold_it() -> None:
    assert [str(violation) for violation in pages(ROOT / "rules")] == []


def test_rules_hold_it() -> None:
    assert [str(violation) for violation in rules(ROOT / "rules")] == []


def test_documents_hold_it() -> None:
    assert [str(violation) for violation in documents(ROOT)] == []


@pytest.mark.parametrize(
    "source",
    [
        '"""Whether it holds."""\n',
        'def f():\n    """What it returns."""\n',
        "x = 1  # the other arm\n",
        '"""Compile anew."""\n',
        'x = "the host reads it in each step"\n',
    ],
)
def test_reports_the_dialect_in_source(source: str) -> None:
    assert list(of_source("src/x.py", source))


@pytest.mark.parametrize(
    "source",
    [
        '"""Return whether it holds."""\n',
        'x = """What a string may be."""\n',
        "arm = 1  # `arm` is a name\n",
    ],
)
def test_accepts_plain_source(source: str) -> None:
    assert list(of_source("src/x.py", source)) == []


@pytest.mark.slow
def test_code_holds_it() -> None:
    assert [str(violation) for violation in code(ROOT)] == []
