"""The IR of an edited module, of which only the statements that the edit touches are parsed again.

The text is cut where a statement of the module, or of a class in it, begins its line: up to there the
parser has read complete statements, before the edit and after it. What lies between two cuts is parsed
alone. Where that is not a sequence of complete statements, as after an opening quote, the whole text
needs to be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from xlamig import ir
from xlamig.syntax.errors import Unparsable
from xlamig.syntax.module import module_from_text

_HEADER = "class _:\n"
_ODD = re.compile(r"\f|\r(?!\n)")
"""White space after which lines and their indentation are not found where they are here."""


class Edit(NamedTuple):
    """The replacement of `before[start:end]`, which moves the text behind it by `growth`."""

    before: str
    after: str
    start: int
    end: int
    growth: int

    @staticmethod
    def between(before: str, after: str) -> Edit:
        start = _common(before, after)
        rest = min(len(before), len(after)) - start
        tail = _common(before[len(before) - rest :][::-1], after[len(after) - rest :][::-1])
        return Edit(before, after, start, len(before) - tail, len(after) - len(before))


def _common(one: str, other: str) -> int:
    """Return how long the common start of two texts is."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


class _Cut(NamedTuple):
    """The statements `first:last` of a block, and the text that becomes of them."""

    first: int
    last: int
    start: int
    end: int  # in the text before the edit
    text: str


def module_from_edit(module: ir.Module, edit: Edit) -> ir.Module | None:
    """Return the IR of the edited text; None where the whole text needs to be parsed. It is made of the nodes
    of `module`, the IR of the text before, which is of no use afterwards."""
    cut = _cut(module.body, "", len(edit.before), edit)
    if cut is None or _ODD.search(edit.after):
        return None
    body, indent = _edited_class(module.body[cut.first], cut, edit), module.indent
    if body is None:
        piece = _parse_block(cut.text, "")
        if piece is None or _first_code(module.body, edit.before) >= cut.first:
            return None
        body = piece.body
        if not _has_block(module.body[: cut.first], edit.before):
            if not _has_block(body, cut.text):
                return None
            indent = piece.indent
        ir.move(piece, cut.start)
    joined = _join_blocks(module.body, cut, body, edit)
    return ir.Module(0, len(edit.after), joined, module.insert_at, module.newline, indent)


def _edited_class(node: ir.Stmt, cut: _Cut, edit: Edit) -> ir.Block | None:
    """Return the class with the edited ones of its members parsed again; None if that is not all."""
    indent = _indent(node.body[0], edit.before) if isinstance(node, ir.ClassDef) else None
    if not isinstance(node, ir.ClassDef) or cut.last != cut.first + 1 or not indent:
        return None
    members = _cut(node.body, indent, cut.end, edit)
    piece = _parse_block(_HEADER + members.text, indent) if members else None
    if members is None or piece is None:
        return None
    ir.move(piece, members.start - len(_HEADER))
    (parsed,) = piece.body
    assert isinstance(parsed, ir.ClassDef)
    node.end = parsed.end if members.last == len(node.body) else node.end + edit.growth
    node.body = _join_blocks(node.body, members, parsed.body, edit)
    return (node,)


def _join_blocks(body: ir.Block, cut: _Cut, new: ir.Block, edit: Edit) -> ir.Block:
    for statement in body[cut.last :]:
        ir.move(statement, edit.growth)
    return (*body[: cut.first], *new, *body[cut.last :])


# ---------------------------------------------------------------------- cuts


def _cut(body: ir.Block, indent: str, end: int, edit: Edit) -> _Cut | None:
    """Return the smallest part of a block, which ends at `end`, that holds the edit and is no start of it."""
    begins = [_begin(statement, indent, edit.before) for statement in body]
    first = max((i for i, begin in enumerate(begins) if begin is not None and begin <= edit.start), default=0)
    start = begins[first] if first else None
    if start is None:
        return None
    later = ((i, begin) for i, begin in enumerate(begins) if begin is not None and begin > edit.end)
    last, end = next(later, (len(body), end))
    text = edit.after[start : end + edit.growth]
    goes_on = last < len(body) or end < len(edit.before)
    if goes_on and text and (not text.endswith("\n") or text.rstrip("\r\n").endswith("\\")):
        return None
    return _Cut(first, last, start, end, text)


def _begin(statement: ir.Stmt, indent: str, text: str) -> int | None:
    """Return where the line of a statement begins, if it is indented so."""
    return _start(statement, text) - len(indent) if _indent(statement, text) == indent else None


def _start(statement: ir.Node, text: str) -> int:
    """Return where a statement starts; a decorated definition does so at its first decorator."""
    decorators = statement.decorators if isinstance(statement, ir.FunctionDef | ir.ClassDef) else ()
    return text.rfind("@", 0, decorators[0].start) if decorators else statement.start


def _indent(statement: ir.Node, text: str) -> str | None:
    """Return the indentation of a statement; None if it does not begin a logical line."""
    start = _start(statement, text)
    line = text.rfind("\n", 0, start) + 1
    indent = text[line:start]
    goes_on = text[max(0, line - 3) : line].rstrip("\r\n").endswith("\\")
    return None if indent.strip(" \t") or goes_on else indent


# ---------------------------------------------------------------------- pieces


def _parse_block(text: str, indent: str) -> ir.Module | None:
    """Return the IR of a piece of a block; None if it is not a sequence of statements indented so."""
    try:
        piece = module_from_text(text)
    except Unparsable:
        return None
    body = piece.body
    if indent:
        body = body[0].body if len(body) == 1 and isinstance(body[0], ir.ClassDef) else ()
    if not body:
        return None if indent else piece
    return piece if _indent(body[0], text) == indent else None


def _first_code(body: ir.Block, text: str) -> int:
    """Return the index of the first line that is no docstring and no import from `__future__`."""
    for i, statement in enumerate(body):
        match statement:
            case ir.ExprStmt(value=ir.FString() | ir.Const(value=str() | bytes())) if i == 0:
                continue
            case ir.ImportFrom(module="__future__"):
                continue
        if _indent(statement, text) == "":
            return i
    return len(body)


def _has_block(statements: Iterable[ir.Stmt], text: str) -> bool:
    """Return whether a line among these statements is indented."""
    inner = (each for statement in statements for each in ir.statements(statement))
    return any(isinstance(each, ir.Stmt | ir.Case) and _indent(each, text) for each in inner)
