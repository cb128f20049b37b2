"""Writes statements below another one, in its block."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.context import FixContext
from xlamig.fix.imports import line_end, line_start, share_line
from xlamig.fix.scopes import block_of, position_in

_COMPOUND = (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Match, ir.FunctionDef, ir.ClassDef)


def insert_after(context: FixContext, statement: ir.Stmt, lines: Sequence[str]) -> Edit | None:
    """`lines` below `statement`, indented as it is. A single line may follow it behind a `;`."""
    text, block = context.source.text, block_of(context.module, statement)
    if block is None:
        return None
    start = line_start(text, statement.start)
    indent = text[start : statement.start]
    if isinstance(statement, _COMPOUND):
        last = _last(statement)
        end = line_end(text, last.end)
        return _below(context, end, indent, lines) if not indent.strip() else None
    following = (position_in(block, statement) or 0) + 1
    shared = following < len(block) and share_line(text, statement.end, block[following].start)
    if indent.strip() or shared:
        if len(lines) != 1:
            return None
        return context.edit(statement.end, statement.end, f"; {lines[0]}")
    return _below(context, line_end(text, statement.end), indent, lines)


def _below(context: FixContext, end: int, indent: str, lines: Sequence[str]) -> Edit:
    newline = context.module.newline
    content = "".join(f"{newline}{indent}{line}" if line else newline for line in lines)
    return context.edit(end, end, content)


def _last(statement: ir.Stmt) -> ir.Stmt:
    """The simple statement that ends `statement`."""
    while isinstance(statement, _COMPOUND):
        statement = max(_inner(statement), key=lambda s: s.end)
    return statement


def _inner(statement: ir.Stmt) -> list[ir.Stmt]:
    found: list[ir.Stmt] = []
    for child in ir.children(statement):
        if isinstance(child, ir.Stmt):
            found.append(child)
        elif isinstance(child, ir.Handler | ir.Case):
            found.extend(child.body)
    return found
