"""Deletes a statement that only makes the call in question."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import after_newline, joined, line_end, line_start
from xlamig.fix.scopes import block_of


def drop_statement(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    statement = next(
        (
            node
            for node in ir.walk(page.module)
            if isinstance(node, ir.ExprStmt) and (node.start, node.end) == fact.statement
        ),
        None,
    )
    if statement is None or (statement.value.start, statement.value.end) != fact.parts.get("call"):
        return None
    block = block_of(page.module, statement)
    if block is None:
        return None
    span = _statement_span(page, block, statement)
    content = "pass" if span == fact.statement else ""
    return Draft(f"Delete `{page.text(fact.statement)}`", (page.edit(*span, content),))


def _statement_span(page: FixContext, block: ir.Block, statement: ir.Stmt) -> Span:
    """What goes with the statement; exactly its own span when a `pass` has to stay."""
    text = page.source.text
    index = next(i for i, s in enumerate(block) if s is statement)
    if len(block) == 1 and block is not page.module.body:
        return statement.start, statement.end
    if index and joined(text, block[index - 1].end, statement.start):
        return block[index - 1].end, statement.end
    if index + 1 < len(block) and joined(text, statement.end, block[index + 1].start):
        return statement.start, block[index + 1].start
    start, end = line_start(text, statement.start), line_end(text, statement.end)
    if text[start : statement.start].strip():
        return statement.start, statement.end
    if end == len(text) and start and not text.endswith(("\n", "\r")):
        before = start - 2 if text.startswith("\r\n", start - 2) else start - 1
        return before, end  # the file had no final newline and keeps none
    return start, after_newline(text, end)
