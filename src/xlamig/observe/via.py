"""How a value came to be needed: the expression that was being evaluated, and what surrounds it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from xlamig.observe.sources import text_of

Span = tuple[int, int, int, int]

_METHODS = {"item": "item", "tolist": "tolist", "cpu": "cpu", "numpy": "numpy", "to": "cpu", "index": "index"}
_FUNCTIONS = {"print": "print", "float": "float", "int": "int", "bool": "branch", "str": "format"}


class Source:
    """A file as the interpreter saw it: nodes by span, and their parents."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.nodes: dict[Span, list[ast.AST]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(ast.parse(text)):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.expr | ast.stmt):
                span = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
                self.nodes.setdefault(span, []).append(node)

    def at(self, place: Mapping[str, Any]) -> list[ast.AST]:
        """The nodes that span the place, outer ones first."""
        return self.nodes.get((place["row"], place["column"], place["end_row"], place["end_column"]), [])

    def column(self, row: int, offset: int) -> int:
        """From an offset in UTF-8 to a column in code points, from 1."""
        line = self.lines[row - 1] if row <= len(self.lines) else ""
        return len(line.encode()[:offset].decode(errors="replace")) + 1


@lru_cache(maxsize=256)
def source_of(filename: str) -> Source | None:
    """None for what cannot be read or parsed."""
    text = text_of(filename)
    try:
        return None if text is None else Source(text)
    except (ValueError, SyntaxError):
        return None


def via(place: dict[str, Any]) -> str:
    """One of the words that facts of host reads use, "call" for a function of a library."""
    source = source_of(place["filename"])
    nodes = source.at(place) if source else []
    if source is None or not nodes:
        return "call"
    node = nodes[-1]
    return _of_node(node) or _of_surroundings(node, source) or "call"


def _of_node(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _METHODS:
            return _METHODS[name]
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS.get(name, "")
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return "membership"
        case ast.Subscript():
            return "index"
        case ast.FormattedValue() | ast.JoinedStr():
            return "format"
    return ""


def _of_surroundings(node: ast.AST, source: Source) -> str:
    parent = source.parents.get(node)
    while isinstance(parent, ast.BoolOp | ast.Compare) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    ):
        node, parent = parent, source.parents.get(parent)
    match parent:
        case ast.Assert(test=test) if test is node:
            return "assert"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is node:
            return "branch"
        case ast.comprehension():
            return "branch"
        case ast.FormattedValue():
            return "format"
        case ast.For(iter=iterable) if iterable is node:
            return "loop"
    return "builtin" if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def is_save(place: dict[str, Any]) -> bool:
    """Return whether the place is a call of some `save`, or of `state_dict`."""
    source = source_of(place["filename"])
    calls = (node.func for node in (source.at(place) if source else ()) if isinstance(node, ast.Call))
    names = (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls)
    return any("save" in name or name == "state_dict" for name in names)


def is_mask(place: dict[str, Any]) -> str:
    """mask-read or mask-write where the place is a subscript; "" elsewhere."""
    source = source_of(place["filename"])
    for node in source.at(place) if source else ():
        if isinstance(node, ast.Subscript):
            return "mask-read" if isinstance(node.ctx, ast.Load) else "mask-write"
        if isinstance(node, ast.Assign | ast.AugAssign):
            return "mask-write"
    return ""
