"""The nodes of a module by their kind, found in one walk for all who look for some of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import TypeVar

from xlamig import ir
from xlamig.facts import Span
from xlamig.flow.model.scopes import Scope, ScopeTable
from xlamig.per_file import per_file

Kind = TypeVar("Kind", bound=ir.Node)
_start = attrgetter("start")


def of_kind(module: ir.Module, kind: type[Kind]) -> Sequence[Kind]:
    """Return the nodes of one kind, by where they start."""
    return _by_kind(module).get(kind, ())  # type: ignore[return-value]


def calls_in(module: ir.Module, function: ir.FunctionDef) -> Sequence[ir.Call]:
    """Return the calls in a function of the module, its decorators and defaults included."""
    calls = of_kind(module, ir.Call)
    start = bisect_left(calls, _begin(function), key=_start)
    return calls[start : bisect_left(calls, function.end, key=_start)]


def call_at(module: ir.Module, span: Span) -> ir.Call | None:
    """Return the call that stands at a span."""
    calls = of_kind(module, ir.Call)
    start = bisect_left(calls, span[0], key=_start)
    alike = calls[start : bisect_right(calls, span[0], key=_start)]
    return next((call for call in alike if call.end == span[1]), None)


def branch_of_test(module: ir.Module, node: ir.Node) -> ir.If | None:
    """Return the `if` statement whose test a node is, or is a part of."""
    branches = of_kind(module, ir.If)
    at = bisect_right(branches, node.start, key=_start)
    return branches[at - 1] if at and ir.encloses(branches[at - 1].test, node) else None


def around(module: ir.Module, kind: type[Kind], node: ir.Node) -> Iterator[Kind]:
    """Yield the nodes of one kind, of functions or statements, that a node stands in, the innermost first."""
    nodes = of_kind(module, kind)
    outer = _outer(module, kind)  # type: ignore[arg-type]  # any class is hashable
    i = bisect_right(nodes, node.start, key=_start) - 1
    while i >= 0:
        if nodes[i].end > node.start:
            yield nodes[i]
        i = outer[i]


def function_around(module: ir.Module, node: ir.Node) -> ir.FunctionDef | None:
    """Return the innermost function that a node stands in; None at the top of the module."""
    return next(around(module, ir.FunctionDef, node), None)


def scope_around(module: ir.Module, scopes: ScopeTable, node: ir.Node) -> Scope:
    """Return the scope of the innermost function around a node, that of the module at its top."""
    function = function_around(module, node)
    return scopes.module if function is None else scopes.of(function)


def owner_at_top(module: ir.Module, node: ir.Node) -> str:
    """Return the name of the class or function at the top of a module that a node is in, or ""."""
    around = module.body[bisect_right(module.body, node.start, key=_begin) - 1]
    return around.name if isinstance(around, ir.ClassDef | ir.FunctionDef) else ""


def _begin(statement: ir.Stmt) -> int:
    """Return where a statement starts, its decorators included."""
    decorators = statement.decorators if isinstance(statement, ir.ClassDef | ir.FunctionDef) else ()
    return decorators[0].start if decorators else statement.start


@per_file
@cache
def _outer(module: ir.Module, kind: type[ir.Node]) -> list[int]:
    """Return for each node of a kind the position of the one around it, -1 for none."""
    found: list[int] = []
    open_ones: list[int] = []
    nodes = of_kind(module, kind)
    for i, node in enumerate(nodes):
        while open_ones and nodes[open_ones[-1]].end <= node.start:
            open_ones.pop()
        found.append(open_ones[-1] if open_ones else -1)
        open_ones.append(i)
    return found


@per_file
@cache
def _by_kind(module: ir.Module) -> dict[type[ir.Node], list[ir.Node]]:
    found: dict[type[ir.Node], list[ir.Node]] = {}
    for node in ir.walk(module):
        found.setdefault(type(node), []).append(node)
    for nodes in found.values():
        nodes.sort(key=_start)
    return found
