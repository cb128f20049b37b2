"""LibCST statements -> IR statements, in one walk that touches no white space."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import libcst as cst

from xlamig import ir
from xlamig.syntax.operators import AUGMENTED, chosen_first
from xlamig.syntax.parse import parse
from xlamig.syntax.patterns import PatternBuilder
from xlamig.syntax.spans import Spans, record_spans
from xlamig.syntax.type_comments import annotate

_NEWLINE = re.compile(r"\r\n?|\n")


def build_module(tree: cst.Module, spans: Spans, text: str) -> ir.Module:
    builder = _StatementBuilder(spans, text)
    body = builder.block(tree.body)
    insert_at = builder.first_import_offset(tree)
    return ir.Module(0, len(text), body, insert_at, tree.default_newline, tree.default_indent)


def _parse_text(text: str) -> ir.Module:
    """Return the IR of a text within the module."""
    tree = parse(text)
    return build_module(tree, record_spans(tree, text), text)


def _dotted(node: cst.BaseExpression | None) -> str:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if isinstance(node, cst.Name):
        parts.append(node.value)
    return ".".join(reversed(parts))


class _StatementBuilder(PatternBuilder):
    def block(self, body: Sequence[cst.CSTNode]) -> ir.Block:
        made: list[ir.Stmt] = []
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                made.extend(self.statement(small) for small in node.body)
            else:
                made.append(self.statement(node))
        return tuple(made)

    def suite(self, node: cst.BaseSuite) -> ir.Block:
        if isinstance(node, cst.SimpleStatementSuite):
            return tuple(self.statement(small) for small in node.body)
        return self.block(node.body)

    def statement(self, node: cst.CSTNode) -> ir.Stmt:
        start, end = self.spans[id(node)]
        build = self._STATEMENTS.get(type(node))
        if build is None:
            return ir.Jump(start, end, "pass")
        made: ir.Stmt = build(self, node, start, end)
        return made

    def first_import_offset(self, tree: cst.Module) -> int:
        """After the docstring and `from __future__` lines, at the start of a line."""
        offset: int | None = None
        for index, node in enumerate(tree.body):
            if not isinstance(node, cst.SimpleStatementLine):
                break
            first = node.body[0]
            docstring = index == 0 and isinstance(first, cst.Expr) and isinstance(first.value, cst.BaseString)
            future = isinstance(first, cst.ImportFrom) and _dotted(first.module) == "__future__"
            if not (docstring or future):
                break
            offset = self.spans[id(node)][1]
        if offset is None:
            return self._first_statement(tree.body[0]) if tree.body else 0
        end_of_line = _NEWLINE.search(self.text, offset)
        return len(self.text) if end_of_line is None else end_of_line.end()

    def _first_statement(self, node: cst.CSTNode) -> int:
        """Where it starts; a decorated definition does so at its first decorator."""
        decorators = node.decorators if isinstance(node, cst.FunctionDef | cst.ClassDef) else ()
        return self.spans[id(decorators[0] if decorators else node)][0]

    # ------------------------------------------------------------------ simple statements

    def _expr_statement(self, node: cst.Expr, start: int, end: int) -> ir.Stmt:
        return ir.ExprStmt(start, end, self.expr(node.value))

    def _assign(self, node: cst.Assign, start: int, end: int) -> ir.Stmt:
        return ir.Assign(start, end, tuple(self.expr(t.target) for t in node.targets), self.expr(node.value))

    def _augmented(self, node: cst.AugAssign, start: int, end: int) -> ir.Stmt:
        return ir.AugAssign(
            start, end, self.expr(node.target), AUGMENTED[type(node.operator)], self.expr(node.value)
        )

    def _annotated(self, node: cst.AnnAssign, start: int, end: int) -> ir.Stmt:
        return ir.AnnAssign(
            start,
            end,
            self.expr(node.target),
            self.expr(node.annotation.annotation),
            self.optional(node.value),
        )

    def _type_alias(self, node: cst.TypeAlias, start: int, end: int) -> ir.Stmt:
        return ir.Assign(start, end, (self.expr(node.name),), self.expr(node.value))

    def _return(self, node: cst.Return, start: int, end: int) -> ir.Stmt:
        return ir.Return(start, end, self.optional(node.value))

    def _raise(self, node: cst.Raise, start: int, end: int) -> ir.Stmt:
        cause = node.cause.item if node.cause else None
        return ir.Raise(start, end, self.optional(node.exc), self.optional(cause))

    def _assert(self, node: cst.Assert, start: int, end: int) -> ir.Stmt:
        return ir.Assert(start, end, self.expr(node.test), self.optional(node.msg))

    def _delete(self, node: cst.Del, start: int, end: int) -> ir.Stmt:
        target = self.expr(node.target)
        return ir.Delete(start, end, target.elements if isinstance(target, ir.Sequence) else (target,))

    def _jump(self, node: cst.CSTNode, start: int, end: int) -> ir.Stmt:
        return ir.Jump(start, end, type(node).__name__.lower())

    def _scoping(self, node: cst.Global | cst.Nonlocal, start: int, end: int) -> ir.Stmt:
        names = tuple(item.name.value for item in node.names)
        return ir.Scoping(start, end, type(node).__name__.lower(), names)

    def _import(self, node: Any, start: int, end: int) -> ir.Stmt:
        return ir.Import(start, end, tuple(self._alias(a) for a in node.names))

    def _import_from(self, node: Any, start: int, end: int) -> ir.Stmt:
        if isinstance(node.names, cst.ImportStar):
            place = self.spans[id(node.names)]
            names: tuple[ir.Alias, ...] = (ir.Alias(*place, "*", None, place[0]),)
        else:
            names = tuple(self._alias(a) for a in node.names)
        module_start = self.spans[id(node.module)][0] if node.module else start
        return ir.ImportFrom(start, end, _dotted(node.module), len(node.relative), names, module_start)

    def _alias(self, node: cst.ImportAlias) -> ir.Alias:
        start, end = self.spans[id(node.name)]
        asname = node.asname.name if node.asname else None
        if not isinstance(asname, cst.Name):
            return ir.Alias(start, end, _dotted(node.name), None, start)
        place = self.spans[id(asname)]
        return ir.Alias(start, place[1], _dotted(node.name), asname.value, place[0])

    # ------------------------------------------------------------------ compound statements

    def _orelse(self, node: cst.Else | cst.If | None) -> ir.Block:
        if node is None:
            return ()
        return (self.statement(node),) if isinstance(node, cst.If) else self.suite(node.body)

    def _if(self, node: cst.If, start: int, end: int) -> ir.Stmt:
        """With `else`, the branch that the test chooses comes first, as if `if not x` had been `if x`."""
        body, test, orelse = self.suite(node.body), self.expr(node.test), self._orelse(node.orelse)
        if isinstance(node.orelse, cst.Else) and isinstance(test, ir.Unary):
            body, test, orelse = chosen_first(body, test, orelse)
            orelse = _without_pass(orelse)
        return ir.If(start, end, test, body, orelse)

    def _for(self, node: cst.For, start: int, end: int) -> ir.Stmt:
        return ir.For(
            start,
            end,
            self.expr(node.target),
            self.expr(node.iter),
            self.suite(node.body),
            self._orelse(node.orelse),
            node.asynchronous is not None,
        )

    def _while(self, node: cst.While, start: int, end: int) -> ir.Stmt:
        return ir.While(start, end, self.expr(node.test), self.suite(node.body), self._orelse(node.orelse))

    def _with(self, node: cst.With, start: int, end: int) -> ir.Stmt:
        items = tuple(
            ir.WithItem(
                *self.spans[id(item)],
                self.expr(item.item),
                self.expr(item.asname.name) if item.asname else None,
            )
            for item in node.items
        )
        return ir.With(start, end, items, self.suite(node.body), node.asynchronous is not None)

    def _try(self, node: cst.Try | cst.TryStar, start: int, end: int) -> ir.Stmt:
        handlers = tuple(
            ir.Handler(
                *self.spans[id(handler)],
                self.optional(handler.type),
                handler.name.name.value if handler.name and isinstance(handler.name.name, cst.Name) else None,
                self.suite(handler.body),
            )
            for handler in node.handlers
        )
        final = self.suite(node.finalbody.body) if node.finalbody else ()
        return ir.Try(start, end, self.suite(node.body), handlers, self._orelse(node.orelse), final)

    def _match(self, node: cst.Match, start: int, end: int) -> ir.Stmt:
        cases = []
        for case in node.cases:
            captures: list[str] = []
            pattern = self.pattern(case.pattern, captures)
            cases.append(
                ir.Case(
                    *self.spans[id(case)],
                    pattern,
                    tuple(captures),
                    self.optional(case.guard),
                    self.suite(case.body),
                )
            )
        return ir.Match(start, end, self.expr(node.subject), tuple(cases))

    def _function(self, node: cst.FunctionDef, start: int, end: int) -> ir.Stmt:
        params, body = self.params(node.params), self.suite(node.body)
        if params and body:
            annotate(params, self.text[params[-1].end : body[0].start], _parse_text)
        return ir.FunctionDef(
            start,
            end,
            node.name.value,
            self.spans[id(node.name)][0],
            params,
            self.expr(node.returns.annotation) if node.returns else None,
            tuple(self.expr(d.decorator) for d in node.decorators),
            body,
            node.asynchronous is not None,
        )

    def _class(self, node: cst.ClassDef, start: int, end: int) -> ir.Stmt:
        return ir.ClassDef(
            start,
            end,
            node.name.value,
            self.spans[id(node.name)][0],
            self.args([*node.bases, *node.keywords]),
            tuple(self.expr(d.decorator) for d in node.decorators),
            self.suite(node.body),
        )

    _STATEMENTS: ClassVar[dict[type, Callable[..., ir.Stmt]]] = {
        cst.Expr: _expr_statement,
        cst.Assign: _assign,
        cst.AugAssign: _augmented,
        cst.AnnAssign: _annotated,
        cst.TypeAlias: _type_alias,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.Assert: _assert,
        cst.Del: _delete,
        cst.Pass: _jump,
        cst.Break: _jump,
        cst.Continue: _jump,
        cst.Global: _scoping,
        cst.Nonlocal: _scoping,
        cst.Import: _import,
        cst.ImportFrom: _import_from,
        cst.If: _if,
        cst.For: _for,
        cst.While: _while,
        cst.With: _with,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.Match: _match,
        cst.FunctionDef: _function,
        cst.ClassDef: _class,
        **{
            getattr(cst, young): build
            for young, build in (("LazyImport", _import), ("LazyImportFrom", _import_from))
            if hasattr(cst, young)
        },
    }


def _without_pass(block: ir.Block) -> ir.Block:
    match block:
        case (ir.Jump(kind="pass"),):
            return ()
    return block
