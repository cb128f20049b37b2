"""Names that only code for CUDA sets, and that the program reads wherever it runs."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.detectors.blocks import blocks_around, leaves
from xlamig.flow.model.scopes import Scope


def read_unset(node: ir.If, body: ir.Block, scope: Scope) -> ir.Name | None:
    """Return the first use of a name, in what runs for sure after a test without `else`, that nothing but its
    branches set: where none is taken, it raises. `body` is that of the function or module."""
    last = node
    while len(last.orelse) == 1 and isinstance(last.orelse[0], ir.If):
        last = last.orelse[0]
    if last.orelse:
        return None
    block, i = list(blocks_around(node, body))[-1]
    for use in _surely_read(block[i + 1 :]):
        bound = scope.lookup(use.id)
        inside = all(node.start <= one.start and one.end <= node.end for one in bound)
        if bound and inside and not hasattr(builtins, use.id):
            return use
    return None


def _surely_read(statements: Iterable[ir.Stmt]) -> Iterator[ir.Name]:
    """Yield the names that statements read one after the other, until some may leave."""
    for statement in statements:
        match statement:
            case ir.If(test=test, body=body, orelse=orelse):
                yield from _names(test)
                if leaves(body) or leaves(orelse):
                    return
            case ir.For(iter=values, body=body):
                yield from _names(values)
                yield from _surely_read(body)
            case ir.While(test=test):
                yield from _names(test)
            case ir.With(items=items, body=body):
                for item in items:
                    yield from _names(item.value)
                yield from _surely_read(body)
            case ir.Assign() | ir.AugAssign() | ir.AnnAssign() | ir.ExprStmt():
                yield from _names(statement)
            case ir.Return() | ir.Raise():
                yield from _names(statement)
                return
            case ir.Try() | ir.Jump():
                return


def _names(node: ir.Node) -> Iterator[ir.Name]:
    """Yield the names in an expression that are evaluated whatever its parts come to."""
    match node:
        case ir.Name():
            yield node
        case ir.Lambda() | ir.Comprehension():
            return
        case ir.IfExp(test=test):
            yield from _names(test)
        case ir.Bool(values=values):
            yield from _names(values[0])
        case _:
            for child in ir.children(node):
                yield from _names(child)
