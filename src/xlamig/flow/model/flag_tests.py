"""Flags that a test sets: `if step % 100 == 0: log = True`, with `log = False` elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import Binding


def tests_of_flag(module: ir.Module, bindings: Sequence[Binding]) -> list[ir.Expr]:
    """Return the tests under which a name becomes True, if each place that sets it is of one of two kinds:
    True under a test, or False."""
    values = [one.value for one in bindings if one.kind == "value"]
    states = [value.value for value in values if isinstance(value, ir.Const) and type(value.value) is bool]
    if len(states) < len(bindings) or set(states) != {True, False}:
        return []
    found = [list(_tests_above(module, value)) for value in values if value is not None and _holds(value)]
    return [tests[-1] for tests in found] if all(found) else []


def _holds(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value is True


def _tests_above(module: ir.Module, value: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the tests of the `if` statements in whose body a value stands, the innermost last."""
    for node in of_kind(module, ir.If):
        if any(ir.encloses(statement, value) for statement in node.body):
            yield node.test
