"""LibCST expressions -> IR expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import libcst as cst

from xlamig import ir
from xlamig.syntax.literals import is_big_display, number, string, string_leaves
from xlamig.syntax.operators import BINARY, COMPARISON, KEYWORD_CONSTANTS, UNARY, chosen_first
from xlamig.syntax.spans import Spans


class ExpressionBuilder:
    """Builds IR for expressions; `spans` and `text` belong to the module being built."""

    def __init__(self, spans: Spans, text: str) -> None:
        self.spans = spans
        self.text = text

    def expr(self, node: cst.CSTNode) -> ir.Expr:
        start, end = self.spans[id(node)]
        build = self._BUILD.get(type(node))
        if build is None:  # an expression form younger than this code: opaque, never wrong
            return ir.Const(start, end, None)
        made: ir.Expr = build(self, node, start, end)
        return made

    def optional(self, node: cst.CSTNode | None) -> ir.Expr | None:
        return None if node is None else self.expr(node)

    def outer(self, node: Any) -> tuple[int, int]:
        """The extent of an expression with its parentheses."""
        start, end = self.spans[id(node)]
        if node.lpar:
            start, end = self.spans[id(node.lpar[0])][0], self.spans[id(node.rpar[-1])][1]
        return start, end

    # ------------------------------------------------------------------ names and calls

    def _name(self, node: cst.Name, start: int, end: int) -> ir.Expr:
        value = node.value
        if value in KEYWORD_CONSTANTS:
            return ir.Const(start, end, KEYWORD_CONSTANTS[value])
        return ir.Name(start, end, value)

    def _attribute(self, node: cst.Attribute, start: int, end: int) -> ir.Expr:
        return ir.Attribute(start, end, self.expr(node.value), node.attr.value, self.spans[id(node.attr)][0])

    def _call(self, node: cst.Call, start: int, end: int) -> ir.Expr:
        opening = self.opening(self.outer(node.func)[1], node.whitespace_after_func)
        return ir.Call(start, end, self.expr(node.func), self.args(node.args), opening, end - 1)

    def opening(self, callee_end: int, blank: cst.BaseParenthesizableWhitespace) -> int:
        """Just after the "(" of a call; the white space before it may hold a comment."""
        if isinstance(blank, cst.SimpleWhitespace):
            return callee_end + len(blank.value) + 1
        return self.spans[id(blank)][1] + 1

    def args(self, nodes: Sequence[cst.Arg]) -> tuple[ir.Arg, ...]:
        places = [(self.spans[id(n)][0], self.outer(n.value)[1]) for n in nodes]
        return tuple(
            ir.Arg(*place, n.keyword.value if n.keyword else None, n.star, self.expr(n.value), *cut)
            for n, place, cut in zip(nodes, places, self.cuts(nodes, places), strict=True)
        )

    def cuts(self, nodes: Sequence[Any], places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the span to delete for each argument so that the others and their comments stay."""
        made = []
        for i, (start, end) in enumerate(places):
            comma = nodes[i].comma
            if i and "#" not in self.text[places[i - 1][1] : start]:
                made.append((places[i - 1][1], end))
            elif i + 1 < len(places):
                made.append((start, places[i + 1][0]))
            else:
                made.append((start, self.spans[id(comma)][1] if isinstance(comma, cst.Comma) else end))
        return made

    def _subscript(self, node: cst.Subscript, start: int, end: int) -> ir.Expr:
        index = tuple(self._element_of_subscript(e) for e in node.slice)
        return ir.Subscript(start, end, self.expr(node.value), index)

    def _element_of_subscript(self, node: cst.SubscriptElement) -> ir.Expr:
        part = node.slice
        if isinstance(part, cst.Index):
            value = self.expr(part.value)
            return ir.Starred(*self.spans[id(part)], value) if part.star else value
        if not isinstance(part, cst.Slice):
            return self.expr(part)
        start, end = self.spans[id(part)]
        return ir.Slice(
            start, end, self.optional(part.lower), self.optional(part.upper), self.optional(part.step)
        )

    # ------------------------------------------------------------------ literals

    def _ellipsis(self, node: cst.Ellipsis, start: int, end: int) -> ir.Expr:
        return ir.Const(start, end, ...)

    def _number(self, node: cst.BaseNumber, start: int, end: int) -> ir.Expr:
        text: str = node.value  # type: ignore[attr-defined]
        value = number(text)
        return ir.BigLiteral(start, end, "int", len(text)) if value is None else ir.Const(start, end, value)

    def _string(self, node: cst.SimpleString, start: int, end: int) -> ir.Expr:
        return ir.Const(start, end, string(node))

    def _joined(self, node: cst.ConcatenatedString, start: int, end: int) -> ir.Expr:
        parts: list[str | bytes | ir.Expr] = []
        for leaf in string_leaves(node):
            if isinstance(leaf, cst.SimpleString):
                parts.append(string(leaf))
            else:
                parts.extend(self._fields(leaf))
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return ir.Const(start, end, "".join(texts))
        if isinstance(parts[0], bytes):
            return ir.Const(start, end, b"".join(part for part in parts if isinstance(part, bytes)))
        return ir.FString(start, end, tuple(part for part in parts if not isinstance(part, bytes)))

    def _fstring(self, node: cst.FormattedString, start: int, end: int) -> ir.Expr:
        return ir.FString(start, end, tuple(self._fields(node)))

    def _fields(self, node: cst.FormattedString | cst.TemplatedString) -> list[str | ir.Expr]:
        parts: list[str | ir.Expr] = []
        self._collect(node.parts, parts)
        return parts

    def _collect(self, pieces: Sequence[cst.CSTNode], parts: list[str | ir.Expr]) -> None:
        for piece in pieces:
            if isinstance(piece, cst.FormattedStringText | cst.TemplatedStringText):
                parts.append(piece.value.replace("{{", "{").replace("}}", "}"))
            elif isinstance(piece, cst.FormattedStringExpression | cst.TemplatedStringExpression):
                parts.append(self.expr(piece.expression))
                spec: list[str | ir.Expr] = []
                self._collect(piece.format_spec or (), spec)
                parts += [part for part in spec if isinstance(part, ir.Expr)]

    # ------------------------------------------------------------------ operators

    def _unary(self, node: cst.UnaryOperation, start: int, end: int) -> ir.Expr:
        operand = self.expr(node.expression)
        value = operand.value if isinstance(operand, ir.Const) else None
        if isinstance(node.operator, cst.Minus) and isinstance(value, int | float) and value is not True:
            return ir.Const(start, end, -value)
        return ir.Unary(start, end, UNARY[type(node.operator)], operand)

    def _binary(self, node: cst.BinaryOperation, start: int, end: int) -> ir.Expr:
        return ir.Binary(start, end, BINARY[type(node.operator)], self.expr(node.left), self.expr(node.right))

    def _boolean(self, node: cst.BooleanOperation, start: int, end: int) -> ir.Expr:
        kind = type(node.operator)
        values = [self.expr(node.right)]
        left = node.left
        while isinstance(left, cst.BooleanOperation) and type(left.operator) is kind and not left.lpar:
            values.append(self.expr(left.right))
            left = left.left
        values.append(self.expr(left))
        return ir.Bool(start, end, "and" if kind is cst.And else "or", tuple(reversed(values)))

    def _compare(self, node: cst.Comparison, start: int, end: int) -> ir.Expr:
        return ir.Compare(
            start,
            end,
            self.expr(node.left),
            tuple(COMPARISON[type(c.operator)] for c in node.comparisons),
            tuple(self.expr(c.comparator) for c in node.comparisons),
        )

    def _ifexp(self, node: cst.IfExp, start: int, end: int) -> ir.Expr:
        parts = map(self.expr, (node.body, node.test, node.orelse))
        return ir.IfExp(start, end, *chosen_first(*parts))

    # ------------------------------------------------------------------ containers

    def _display(self, node: cst.Tuple | cst.List | cst.Set, start: int, end: int) -> ir.Expr:
        kind = type(node).__name__.lower()
        values = [element.value for element in node.elements]
        if is_big_display(values):
            return ir.BigLiteral(start, end, kind, len(values))
        return ir.Sequence(start, end, kind, tuple(self._element(e) for e in node.elements))

    def _element(self, node: cst.BaseElement) -> ir.Expr:
        value = self.expr(node.value)
        if isinstance(node, cst.StarredElement):
            return ir.Starred(*self.spans[id(node)], value)
        return value

    def _dict(self, node: cst.Dict, start: int, end: int) -> ir.Expr:
        values = [element.value for element in node.elements]
        if is_big_display(values):
            return ir.BigLiteral(start, end, "dict", len(values))
        keys = tuple(self.expr(e.key) if isinstance(e, cst.DictElement) else None for e in node.elements)
        return ir.Dict(start, end, keys, tuple(self.expr(v) for v in values))

    def _starred(self, node: cst.StarredElement, start: int, end: int) -> ir.Expr:
        return ir.Starred(start, end, self.expr(node.value))

    def _comprehension(self, node: cst.BaseSimpleComp, start: int, end: int) -> ir.Expr:
        kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "generator")
        return ir.Comprehension(start, end, kind, self.expr(node.elt), None, self._generators(node.for_in))

    def _dict_comprehension(self, node: cst.DictComp, start: int, end: int) -> ir.Expr:
        return ir.Comprehension(
            start, end, "dict", self.expr(node.key), self.expr(node.value), self._generators(node.for_in)
        )

    def _generators(self, node: cst.CompFor | None) -> tuple[ir.Generator, ...]:
        made = []
        while node is not None:
            made.append(
                ir.Generator(
                    *self.spans[id(node)],
                    self.expr(node.target),
                    self.expr(node.iter),
                    tuple(self.expr(test.test) for test in node.ifs),
                    node.asynchronous is not None,
                )
            )
            node = node.inner_for_in
        return tuple(made)

    # ------------------------------------------------------------------ the rest

    def _lambda(self, node: cst.Lambda, start: int, end: int) -> ir.Expr:
        return ir.Lambda(start, end, self.params(node.params), self.expr(node.body))

    def _await(self, node: cst.Await, start: int, end: int) -> ir.Expr:
        return ir.Await(start, end, self.expr(node.expression))

    def _yield(self, node: cst.Yield, start: int, end: int) -> ir.Expr:
        value = node.value
        if isinstance(value, cst.From):
            return ir.Yield(start, end, self.expr(value.item), True)
        return ir.Yield(start, end, self.optional(value), False)

    def _walrus(self, node: cst.NamedExpr, start: int, end: int) -> ir.Expr:
        return ir.Walrus(start, end, self.expr(node.target), self.expr(node.value))

    def params(self, node: cst.Parameters) -> tuple[ir.Param, ...]:
        made = [self._param(p, "positional-only") for p in node.posonly_params]
        made += [self._param(p, "") for p in node.params]
        if isinstance(node.star_arg, cst.Param):
            made.append(self._param(node.star_arg, "*"))
        made += [self._param(p, "keyword-only") for p in node.kwonly_params]
        if node.star_kwarg is not None:
            made.append(self._param(node.star_kwarg, "**"))
        return tuple(made)

    def _param(self, node: cst.Param, kind: str) -> ir.Param:
        annotation = node.annotation.annotation if node.annotation else None
        start = self.spans[id(node.name)][0]
        last = node.default or annotation or node.name
        return ir.Param(
            start,
            self.outer(last)[1],
            node.name.value,
            kind,
            self.optional(annotation),
            self.optional(node.default),
        )

    _BUILD: ClassVar[dict[type, Callable[..., ir.Expr]]] = {
        cst.Name: _name,
        cst.Attribute: _attribute,
        cst.Call: _call,
        cst.Subscript: _subscript,
        cst.Ellipsis: _ellipsis,
        cst.Integer: _number,
        cst.Float: _number,
        cst.Imaginary: _number,
        cst.SimpleString: _string,
        cst.ConcatenatedString: _joined,
        cst.FormattedString: _fstring,
        cst.TemplatedString: _fstring,
        cst.UnaryOperation: _unary,
        cst.BinaryOperation: _binary,
        cst.BooleanOperation: _boolean,
        cst.Comparison: _compare,
        cst.IfExp: _ifexp,
        cst.Tuple: _display,
        cst.List: _display,
        cst.Set: _display,
        cst.Dict: _dict,
        cst.StarredElement: _starred,
        cst.ListComp: _comprehension,
        cst.SetComp: _comprehension,
        cst.GeneratorExp: _comprehension,
        cst.DictComp: _dict_comprehension,
        cst.Lambda: _lambda,
        cst.Await: _await,
        cst.Yield: _yield,
        cst.NamedExpr: _walrus,
    }
