"""Names that only code for CUDA sets, and that the program reads wherever it runs."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator

from xlamig import ir
from xlamig.flow.detectors.blocks import blocks_around, leaves
from xlamig.flow.model.scopes import Scope


def read_unset(
    node: ir.If, body: ir.Block, scope: Scope, is_closed: Callable[[ir.If], bool]
) -> ir.Name | None:
    """Return the first use of a name, in what runs for sure after a test without `else`, that only its
    branches set, and those of tests beside it that are closed to a TPU too: it raises where none is taken.
    `body` is that of the function or module."""
    block, i = list(blocks_around(node, body))[-1]
    tests = [one for one in block if isinstance(one, ir.If) and _has_no_else(one) and is_closed(one)]
    if not tests or tests[0] is not node:
        return None
    for use in _surely_read(block[i + 1 :]):
        bound = scope.lookup(use.id)
        inside = all(any(t.start <= one.start and one.end <= t.end for t in tests) for one in bound)
        if bound and inside and not hasattr(builtins, use.id):
            return use
    return None


def _has_no_else(node: ir.If) -> bool:
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ir.If):
        node = node.orelse[0]
    return not node.orelse


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
        case ir.Lambda():
            return
        case ir.Comprehension(generators=(first, *_)):
            yield from _names(first.iter)
        case ir.IfExp(test=test):
            yield from _names(test)
        case ir.Bool(values=values):
            yield from _names(values[0])
        case _:
            for child in ir.children(node):
                yield from _names(child)
