"""Values of Python literals, read from their LibCST nodes."""

from __future__ import annotations

import ast
import re

import libcst as cst

BIG_DISPLAY = 256
"""A display of at least this many constants keeps only its size in the IR."""

_NEWLINE = re.compile(r"\r\n?")

CONSTANTS = (cst.SimpleString, cst.Integer, cst.Float)


def number(text: str) -> int | float | complex | None:
    """The value of a number's source text; None for an integer Python refuses to convert."""
    if text.isdecimal() and len(text) < 20 and (text == "0" or text[0] != "0"):
        return int(text)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, int | float | complex) else None


def string(node: cst.SimpleString) -> str | bytes:
    """The value of one string literal; its raw text where Python would refuse the escapes."""
    raw = node.value
    quote = raw[-1]
    if "\\" not in raw and raw[0] == quote:
        width = 3 if len(raw) >= 6 and raw.startswith(quote * 3) else 1
        return _NEWLINE.sub("\n", raw[width:-width]) if "\r" in raw else raw[width:-width]
    try:
        value = ast.literal_eval(raw)
    except (ValueError, SyntaxError):
        return raw
    return value if isinstance(value, str | bytes) else raw


def string_leaves(
    node: cst.ConcatenatedString,
) -> list[cst.SimpleString | cst.FormattedString | cst.TemplatedString]:
    """The parts of implicitly joined strings, left to right, without recursion."""
    leaves: list[cst.SimpleString | cst.FormattedString | cst.TemplatedString] = []
    current: cst.BaseExpression = node
    while isinstance(current, cst.ConcatenatedString):
        leaves.append(current.left)
        current = current.right
    if isinstance(current, cst.SimpleString | cst.FormattedString | cst.TemplatedString):
        leaves.append(current)
    return leaves


def is_big_display(elements: list[cst.BaseExpression]) -> bool:
    return len(elements) >= BIG_DISPLAY and all(isinstance(e, CONSTANTS) for e in elements)
