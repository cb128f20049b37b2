"""A statement is found again by its text, wherever it stands."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.judged.places import Places, Sources

PROGRAM = """import torch

for x in loader:
    y = f(
        x,
    )
    y.cpu()
    if y:
        y.cpu()
# the end
"""


def test_equal_statements_differ_by_their_number() -> None:
    places = Places(PROGRAM, python=True)
    first, second = places.at(7), places.at(9)
    assert first.digest == second.digest
    assert (first.number, second.number) == (0, 1)


def test_rows_of_one_statement_are_one_place() -> None:
    places = Places(PROGRAM, python=True)
    assert places.at(4) == places.at(5) == places.at(6)
    assert places.at(3) != places.at(4)


def test_spaces_and_position_do_not_matter() -> None:
    moved = Places("\n\n\n" + PROGRAM.replace("        x,\n", "            x,\n"), python=True)
    assert moved.at(7) == Places(PROGRAM, python=True).at(4)


def test_a_compound_statement_is_its_head() -> None:
    changed = Places(PROGRAM.replace("f(", "g("), python=True)
    assert changed.at(3) == Places(PROGRAM, python=True).at(3)


def test_text_and_broken_python_have_a_place_per_line() -> None:
    for text, python in (("FROM a\nRUN b\n", False), ("def f(:\n  pass\n", True)):
        places = Places(text, python)
        assert places.at(1) != places.at(2)


def test_decorators_belong_to_their_function() -> None:
    places = Places("@torch.no_grad()\ndef f():\n    pass\n", python=True)
    assert places.at(1) == places.at(2)


def test_a_row_of_a_cell_is_found_in_the_cell(tmp_path: Path) -> None:
    cells = [{"source": ["a = 1\n"]}, {"source": ["b = 1\n", "a = 1\n"]}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    sources = Sources(tmp_path)
    assert sources.at("n.ipynb", 2, 2).digest == sources.at("n.ipynb", 1, 1).digest
    assert sources.at("n.ipynb", 9, 1) == sources.at("absent.py", None, 3)
