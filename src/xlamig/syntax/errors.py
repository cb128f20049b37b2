"""The one way in which reading a file's syntax fails."""

from __future__ import annotations


class Unparsable(Exception):
    """`row` and `column` are 1-based; `message` is one line without the file name."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column
