"""How a value came to be needed, from the expression that was being evaluated."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from xlamig.observe import via


def place(folder: Path, text: str, expression: str) -> dict[str, Any]:
    """Return the place of the innermost node written as `expression`."""
    path = folder / "program.py"
    path.write_text(text)
    via.source_of.cache_clear()
    node = [n for n in ast.walk(ast.parse(text)) if ast.get_source_segment(text, n) == expression][-1]
    assert isinstance(node, ast.expr | ast.stmt)
    return {
        "filename": str(path),
        "row": node.lineno,
        "column": node.col_offset,
        "end_row": node.end_lineno,
        "end_column": node.end_col_offset,
    }


@pytest.mark.parametrize(
    ("text", "expression", "word"),
    [
        ("a = x.item()", "x.item()", "item"),
        ("a = x.tolist()", "x.tolist()", "tolist"),
        ("a = float(x)", "float(x)", "float"),
        ("a = x.to('cpu')", "x.to('cpu')", "cpu"),
        ("print(x)", "print(x)", "print"),
        ("a = f'{x}'", "f'{x}'", "format"),
        ("a = str(x)", "str(x)", "format"),
        ("a = max(x, y)", "max(x, y)", "builtin"),
        ("a = x in y", "x in y", "membership"),
        ("a = items[x]", "items[x]", "index"),
        ("if x > 0: pass", "x > 0", "branch"),
        ("if not x: pass", "x", "branch"),
        ("while a and x: pass", "x", "branch"),
        ("assert x", "x", "assert"),
        ("a = 1 if x else 2", "x", "branch"),
        ("a = helper.mean(x)", "helper.mean(x)", "call"),
        ("a = x + 1", "x + 1", "call"),
    ],
)
def test_via(tmp_path: Path, text: str, expression: str, word: str) -> None:
    assert via.via(place(tmp_path, text, expression)) == word


def test_a_file_that_is_gone_leaves_the_word_open() -> None:
    gone = {"filename": "/nowhere/a.py", "row": 1, "column": 0, "end_row": 1, "end_column": 1}
    assert via.via(gone) == "call"


@pytest.mark.parametrize(
    ("text", "expression", "word"),
    [("y = x[m]", "x[m]", "mask-read"), ("x[m] = 0", "x[m]", "mask-write"), ("y = f(m)", "f(m)", "")],
)
def test_masks(tmp_path: Path, text: str, expression: str, word: str) -> None:
    assert via.is_mask(place(tmp_path, text, expression)) == word


def test_columns_are_code_points() -> None:
    assert via.Source('s = "äöü"; x.item()').column(1, 13) == 11
