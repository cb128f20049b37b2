"""Deletes a statement that does nothing but what is in question, or puts it under a test."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Span
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import after_newline, line_end, line_start, share_line
from xlamig.fix.scopes import block_of
from xlamig.fix.template import fill

_COMPUTE = (ir.Call, ir.Await, ir.Yield, ir.Walrus, ir.Comprehension)


def drop_statement(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The statement has to be the call alone."""
    statement = _statement_of(fact, context)
    if not isinstance(statement, ir.ExprStmt):
        return None
    if (statement.value.start, statement.value.end) != fact.parts.get("call"):
        return None
    return _deletion(statement, context)


def drop_assignment(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The statement has to assign to nothing else, and its value has to compute nothing."""
    statement = _statement_of(fact, context)
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return None
    if (statement.targets[0].start, statement.targets[0].end) != fact.span:
        return None
    if any(isinstance(node, _COMPUTE) for node in ir.walk(statement.value)):
        return None
    return _deletion(statement, context)


def guard_statement(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `test`, a template (see fix/template.py): where it does not hold the statement, which is the
    call alone and has its line for itself, is passed over."""
    statement = _statement_of(fact, context)
    if not isinstance(statement, ir.ExprStmt):
        return None
    if (statement.value.start, statement.value.end) != fact.parts.get("call"):
        return None
    test = fill(str(options["test"]), context, fact, fact.span)
    text, newline = context.source.text, context.module.newline
    start, end = line_start(text, statement.start), line_end(text, statement.end)
    rest = text[statement.end : end].strip()
    indent = text[start : statement.start]
    if (
        test is None
        or indent.strip()
        or (rest and not rest.startswith("#"))
        or newline in context.text(fact.span)
    ):
        return None
    line = f"if {test.text}:"
    added = context.edit(statement.start, statement.start, f"{line}{newline}{indent}{context.module.indent}")
    return Draft(f"Put it under `{line}`", (*test.edits, added), test.creates)


def _statement_of(fact: Fact, context: FixContext) -> ir.Stmt | None:
    simple = (n for n in ir.walk(context.module) if isinstance(n, ir.ExprStmt | ir.Assign))
    return next((n for n in simple if (n.start, n.end) == fact.statement), None)


def _deletion(statement: ir.Stmt, context: FixContext) -> Draft | None:
    block = block_of(context.module, statement)
    if block is None:
        return None
    whole = statement.start, statement.end
    span = statement_span(context, block, statement)
    content = "pass" if span == whole else ""
    return Draft(f"Delete `{' '.join(context.text(whole).split())}`", (context.edit(*span, content),))


def statement_span(context: FixContext, block: ir.Block, statement: ir.Stmt) -> Span:
    """Return the span to delete with the statement; its own span if a `pass` has to stay."""
    text = context.source.text
    index = next(i for i, s in enumerate(block) if s is statement)
    if len(block) == 1 and block is not context.module.body:
        return statement.start, statement.end
    if index and share_line(text, block[index - 1].end, statement.start):
        return block[index - 1].end, statement.end
    if index + 1 < len(block) and share_line(text, statement.end, block[index + 1].start):
        return statement.start, block[index + 1].start
    start, end = line_start(text, statement.start), line_end(text, statement.end)
    if text[start : statement.start].strip():
        return statement.start, statement.end
    if end == len(text) and start and not text.endswith(("\n", "\r")):
        before = start - 2 if text.startswith("\r\n", start - 2) else start - 1
        return before, end  # the file had no final newline and keeps none
    return start, after_newline(text, end)
