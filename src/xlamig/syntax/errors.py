"""The one way in which reading a file's syntax fails."""

from __future__ import annotations

import ast
import warnings


class Unparsable(Exception):
    """`row` and `column` are 1-based; `message` is one line without the file name."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


def explained(error: Unparsable, text: str) -> Unparsable:
    """The same error in the words and at the place of Python's own parser: LibCST tells which
    tokens it expected, and of some errors no place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as said:
        return Unparsable(said.msg, said.lineno or 1, max(1, said.offset or 1))
    except (ValueError, RecursionError, MemoryError):
        return error
    return Unparsable(f"Python can read it, LibCST cannot: {error.message}", error.row, error.column)
