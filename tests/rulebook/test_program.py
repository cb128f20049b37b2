"""Conditions on the whole program, as a rulebook reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_books import MATCH, VERDICT, api, book, page, reported

from xlamig.rulebook import Program, RulebookError

USES = 'program = { uses = ["torch.g", "torch.h.*"] }\n'
ABSENT = 'unless_program = { uses = ["torch.g", "torch.h.*"] }\n'


def program(uses: str = "", absent: str = "") -> Program:
    return Program(frozenset(uses.split()), frozenset(absent.split()))


@pytest.mark.parametrize(
    ("condition", "seen", "codes"),
    [
        (USES, program(), []),
        (USES, program(absent="torch.g torch.h.*"), []),
        (USES, program("torch.g"), ["XLA001"]),
        (USES, program("torch.h.*", "torch.g"), ["XLA001"]),
        (ABSENT, program(), []),
        (ABSENT, program(absent="torch.g"), []),
        (ABSENT, program("torch.h.*", "torch.g"), []),
        (ABSENT, program(absent="torch.g torch.h.*"), ["XLA001"]),
    ],
)
def test_a_match_asks_for_the_program(
    tmp_path: Path, condition: str, seen: Program, codes: list[str]
) -> None:
    rules = book(tmp_path, page(MATCH + condition + VERDICT))
    assert reported(rules, api(), program=seen) == codes


def test_a_verdict_and_an_unless_ask_too(tmp_path: Path) -> None:
    when = "when = { " + USES.strip() + " }\n"
    unless = "unless = { " + USES.strip() + " }\n"
    for text, unseen, seen in (
        (MATCH + VERDICT + when, [], ["XLA001"]),
        (MATCH + unless + VERDICT, ["XLA001"], []),
    ):
        rules = book(tmp_path, page(text))
        assert reported(rules, api()) == unseen
        assert reported(rules, api(), program=program("torch.g")) == seen


def test_the_book_knows_what_it_asks(tmp_path: Path) -> None:
    rules = book(
        tmp_path, page(MATCH + USES + VERDICT + 'when = { unless_program = { uses = ["torch.x"] } }')
    )
    assert rules.asked_by(rules.active) == program("torch.g torch.h.*", "torch.x")
    assert rules.asked_by({"XLA002"}) == program()
    assert not book(tmp_path, page(MATCH + USES + VERDICT), target="torch_tpu").asked


def test_files_with_these_names_matter(tmp_path: Path) -> None:
    text = MATCH + 'unless_program = { uses = ["lib.seed_all", "lib.far.*"] }\n' + VERDICT
    rules = book(tmp_path, page(text))
    assert not rules.may_matter("import lib\nlib.seed()\n")
    assert rules.may_matter("from lib import seed_all\n")
    assert rules.may_matter("import lib.far as f\n")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("program = 'torch.g'\n", "program: has to be a table"),
        ("program = { use = ['torch.g'] }\n", 'program.use: unknown key; did you mean "uses"?'),
        ("program = { uses = [] }\n", "uses: has to be a list of names"),
        ("program = { uses = [1] }\n", "uses: has to be a list of text"),
        ("unless_program = { uses = ['*'] }\n", '"*" has to come after a dot'),
        ("unless_program = { uses = ['torch.ma*'] }\n", '"*" has to come after a dot'),
        ("program = { uses = ['Tensor.cuda'] }\n", "not for methods"),
        ("unless = { program = { uses = ['unknown.cuda'] } }\n", "not for methods"),
    ],
)
def test_mistakes(tmp_path: Path, condition: str, message: str) -> None:
    with pytest.raises(RulebookError) as caught:
        book(tmp_path, page(MATCH + condition + VERDICT))
    assert message in str(caught.value)


def test_once_is_once_in_a_program(tmp_path: Path) -> None:
    assert book(tmp_path, page()).once == frozenset()
    assert book(tmp_path, page(once="program")).once == {"XLA001"}
    with pytest.raises(RulebookError, match='once: there is no "file"'):
        book(tmp_path, page(once="file"))


def test_a_group_stands_for_its_names(tmp_path: Path) -> None:
    trains = 'unless_program = { uses = ["@training", "torch.g"] }\n'
    rules = book(tmp_path, page(MATCH + trains + VERDICT))
    asked = rules.asked_by(rules.active).absent
    assert {"torch.optim.*", "torch.g"} < asked and "@training" not in asked
    assert reported(rules, api(), program=program(absent=" ".join(asked - {"torch.optim.*"}))) == []
    assert reported(rules, api(), program=program(absent=" ".join(asked))) == ["XLA001"]


def test_a_group_is_known(tmp_path: Path) -> None:
    with pytest.raises(RulebookError, match='"@trainings" is no group of names'):
        book(tmp_path, page(MATCH + 'program = { uses = ["@trainings"] }\n' + VERDICT))
