"""Walks over nodes of the IR."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter

from xlamig.ir.expr import Const, Expr, Name, Sequence, Starred
from xlamig.ir.node import Node
from xlamig.ir.stmt import (
    Block,
    Case,
    ClassDef,
    ExprStmt,
    For,
    FunctionDef,
    Handler,
    If,
    Match,
    Stmt,
    Try,
    While,
)

_PLAIN = frozenset({"int", "str", "str | None", "bool", "tuple[str, ...]", "Constant"})
_LONG = 16  # statements of a block that are worth a binary search
_start = attrgetter("start")


class _Holders(dict[type["Node"], tuple[str, ...]]):
    """The fields of a kind of node that can hold nodes, the last one first."""

    def __missing__(self, kind: type[Node]) -> tuple[str, ...]:
        self[kind] = names = tuple(f.name for f in fields(kind) if f.type not in _PLAIN)[::-1]
        return names


_holders = _Holders()


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in field order."""
    for name in reversed(_holders[type(node)]):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first."""
    return _walk(node, Node)


def statements(node: Node) -> Iterator[Node]:
    """`node` and what is below it, but for expressions and what these hold."""
    return _walk(node, (Stmt, Handler, Case))


def _walk(node: Node, kinds: type[Node] | tuple[type[Node], ...]) -> Iterator[Node]:
    # Written out: most of a summary's time goes by here.
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for name in _holders[type(current)]:
            value = getattr(current, name)
            if isinstance(value, tuple):
                stack.extend([item for item in reversed(value) if isinstance(item, kinds)])
            elif isinstance(value, kinds):
                stack.append(value)


def blocks_of(node: Node) -> Iterator[Block]:
    """Yield the lists of statements directly below `node`, except those of handlers and cases."""
    for name in ("body", "orelse", "final"):
        block = getattr(node, name, None)
        if isinstance(block, tuple) and block:
            yield block


def own_statements(body: Block) -> Iterator[Stmt]:
    """Yield the statements that each iteration of a loop may run, loops in it unopened."""
    for statement in body:
        yield statement
        match statement:
            case For() | While() | FunctionDef() | ClassDef():
                continue
            case Match(cases=cases):
                inner = [case.body for case in cases]
            case Try(handlers=handlers):
                inner = [statement.body, *(h.body for h in handlers), statement.orelse, statement.final]
            case _:
                inner = list(blocks_of(statement))
        for block in inner:
            yield from own_statements(block)


def encloses(outer: Node, inner: Node) -> bool:
    """Return whether the span of `inner` lies in that of `outer`, which may be the same node."""
    return outer.start <= inner.start and inner.end <= outer.end


def path_down(top: Node, node: Node) -> Iterator[Node]:
    """Yield the nodes from `top` down to the parent of `node`."""
    current: Node | None = top
    while current is not None and current is not node:
        yield current
        current = _child_around(current, node)


def _child_around(node: Node, inner: Node) -> Node | None:
    for block in blocks_of(node):
        if len(block) > _LONG:
            at = bisect_right(block, inner.start, key=_start) - 1
            if at >= 0 and encloses(block[at], inner):
                return block[at]
    return next((child for child in children(node) if encloses(child, inner)), None)


def statement_of(node: Node, top: Stmt) -> Stmt:
    """Return the innermost statement of `top` that `node` stands in."""
    return [part for part in path_down(top, node) if isinstance(part, Stmt)][-1]


def in_branches(top: Node, one: Node, other: Node) -> bool:
    """Return whether two nodes below `top` stand in different branches of an `if`: one of them runs."""
    for node in path_down(top, one):
        if isinstance(node, If):
            for here, there in ((node.body, node.orelse), (node.orelse, node.body)):
                if _within(here, one) and _within(there, other):
                    return True
    return False


def _within(block: Block, node: Node) -> bool:
    return any(encloses(statement, node) for statement in block)


def target_names(target: Expr) -> Iterator[Name]:
    """Yield the names that a target gives a value: `x` and `y` of `x, *y`, none of `x.y` or `x[0]`."""
    match target:
        case Name():
            yield target
        case Starred(value=inner):
            yield from target_names(inner)
        case Sequence(elements=elements):
            for element in elements:
                yield from target_names(element)


def docstring(function: FunctionDef) -> object:
    """The constant that is the function's first statement; None without one."""
    match function.body:
        case (ExprStmt(value=Const(value=text)), *_):
            return text
    return None
