"""The one way in which reading a file's syntax fails."""

from __future__ import annotations

import ast
import re
import warnings

# Syntax of older Pythons that its parser of today calls "invalid syntax" and no more, from the line's start.
_OLDER = (
    (
        re.compile(r".*\.(?:cuda|to|type|copy_)\((?:[^()]|\([^()]*\))*\basync\s*=[^=]"),
        "`async` is a keyword since Python 3.7: write `non_blocking=`",
    ),
    (
        re.compile(r".*\basync\b(?!\s+(?:def|for|with)\b)"),
        "`async` is a keyword since Python 3.7: rename it, here and at its callers",
    ),
    (re.compile(r"\s*raise\s+[\w.]+\s*,"), "Python 2: write `raise Error(message)`"),
)


class Unparsable(Exception):
    """`row` and `column` are 1-based; `message` is one line without the file name."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


def explain(error: Unparsable, text: str) -> Unparsable:
    """The same error in the words and at the place of Python's own parser: LibCST tells which
    tokens it expected, and of some errors no place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as said:
        return Unparsable(_message(said), said.lineno or 1, max(1, said.offset or 1))
    except (ValueError, RecursionError, MemoryError):
        return error
    return Unparsable(f"Python can read it, LibCST cannot: {error.message}", error.row, error.column)


def _message(said: SyntaxError) -> str:
    if said.msg != "invalid syntax":
        return said.msg
    return next((message for form, message in _OLDER if form.match(said.text or "")), said.msg)
