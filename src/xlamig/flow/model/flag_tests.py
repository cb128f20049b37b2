"""Flags that a test sets: `if step % 100 == 0: log = True`, with `log = False` elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import Binding


def tests_of_flag(module: ir.Module, bindings: Sequence[Binding]) -> list[tuple[ir.Expr, ...]]:
    """Return the expressions of which one holds, for each value that makes a name true: the value itself and
    the test around it. Empty if anything else sets the name, or if it stays true in later iterations."""
    values = [one.value for one in bindings if one.kind == "value" and one.value is not None]
    false = [value for value in values if is_false(value)]
    if len(values) < len(bindings) or not 0 < len(false) < len(values):
        return []
    found: list[tuple[ir.Expr, ...]] = []
    for value in values:
        if is_false(value):
            continue
        around = [n for n in ir.path_down(module, value) if isinstance(n, ir.For | ir.While)]
        if around and not any(ir.encloses(around[-1], one) for one in false):
            return []
        tests = list(_tests_above(module, value))
        found.append((*tests[-1:], *(() if isinstance(value, ir.Const) else (value,))))
    return found


def tests_of_return(function: ir.FunctionDef) -> list[ir.Expr]:
    """Return the tests that decide whether a function returns True, if each place where it returns gives a
    comparison, True under a test, or False."""
    tests: list[ir.Expr] = []
    for node in _returns(function.body, None):
        value, above = node
        match value:
            case None | ir.Const(value=False | None):
                continue
            case ir.Const(value=True) if above is not None:
                tests.append(above)
            case ir.Compare() | ir.Bool() | ir.Unary(op="not"):
                tests.append(value)
            case _:
                return []
    return tests


def _returns(body: ir.Block, above: ir.Expr | None) -> Iterator[tuple[ir.Expr | None, ir.Expr | None]]:
    """Yield what a block returns, each with the test of the `if` statement in whose body it stands."""
    for node in body:
        match node:
            case ir.Return(value=value):
                yield value, above
            case ir.If(test=test, body=held, orelse=other):
                yield from _returns(held, test)
                yield from _returns(other, above)
            case ir.FunctionDef() | ir.ClassDef():
                continue
            case _:
                for inner in ir.walk(node):
                    if isinstance(inner, ir.Return):
                        yield inner.value, None


def is_false(value: ir.Expr | None) -> bool:
    """Return whether an expression is `False` or `None`."""
    return isinstance(value, ir.Const) and (value.value is None or value.value is False)


def _tests_above(module: ir.Module, value: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the tests of the `if` statements in whose body a value stands, the innermost last."""
    for node in of_kind(module, ir.If):
        if any(ir.encloses(statement, value) for statement in node.body):
            yield node.test
