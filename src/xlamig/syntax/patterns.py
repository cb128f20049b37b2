"""`match` patterns, read as the expressions they resemble; captured names are collected apart."""

from __future__ import annotations

from typing import Any

import libcst as cst

from xlamig import ir
from xlamig.syntax.expressions import ExpressionBuilder


class PatternBuilder(ExpressionBuilder):
    def pattern(self, node: Any, captures: list[str]) -> ir.Expr:
        start, end = self.spans[id(node)]
        match node:
            case cst.MatchValue() | cst.MatchSingleton():
                return self.expr(node.value)
            case cst.MatchAs(pattern=inner, name=name):
                if name is not None:
                    captures.append(name.value)
                if inner is not None:
                    return self.pattern(inner, captures)
                return ir.Name(start, end, name.value if name else "_")
            case cst.MatchOr():
                values = tuple(self.pattern(p.pattern, captures) for p in node.patterns)
                return ir.Bool(start, end, "or", values)
            case cst.MatchList() | cst.MatchTuple():
                elements = tuple(self._sequence_element(p, captures) for p in node.patterns)
                return ir.Sequence(start, end, "list", elements)
            case cst.MatchMapping():
                keys = tuple(self.expr(p.key) for p in node.elements)
                values = tuple(self.pattern(p.pattern, captures) for p in node.elements)
                if node.rest is not None:
                    captures.append(node.rest.value)
                return ir.Dict(start, end, keys, values)
            case cst.MatchClass():
                return self._class_pattern(node, captures, start, end)
        return ir.Const(start, end, None)

    def _sequence_element(self, node: Any, captures: list[str]) -> ir.Expr:
        if isinstance(node, cst.MatchStar):
            if node.name is not None:
                captures.append(node.name.value)
            start, end = self.spans[id(node)]
            return ir.Const(start, end, None)
        return self.pattern(node.value, captures)

    def _class_pattern(self, node: cst.MatchClass, captures: list[str], start: int, end: int) -> ir.Expr:
        nodes = [*node.patterns, *node.kwds]
        values = [*(p.value for p in node.patterns), *(k.pattern for k in node.kwds)]
        places = [self.outer(p.value) for p in node.patterns]
        places += [(self.spans[id(k.key)][0], self.outer(k.pattern)[1]) for k in node.kwds]
        keywords = [*(None for _ in node.patterns), *(k.key.value for k in node.kwds)]
        args = tuple(
            ir.Arg(*place, keyword, "", self.pattern(value, captures), *cut)
            for place, keyword, value, cut in zip(
                places, keywords, values, self.cuts(nodes, places), strict=True
            )
        )
        opening = self.opening(self.outer(node.cls)[1], node.whitespace_after_cls)
        return ir.Call(start, end, self.expr(node.cls), args, opening, end - 1)
