"""Branches that few calls of their function take: the first one, and those that leave something out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.knowledge import values as table

_OPTIMIZER = re.compile(r"opt|scaler", re.IGNORECASE)


def is_seldom(node: ir.If, body: ir.Block, scope: Scope) -> bool:
    """Return whether few calls run a branch of `node`."""
    return (_asks_for_none(node.test) and any(map(_warns, body))) or _makes_what_is_missing(node, body, scope)


def warns(node: ir.If) -> bool:
    """Return whether a branch only reports a value that is out of bounds: `if loss > 12: print(loss)`."""
    tests = node.test.values if isinstance(node.test, ir.Bool) else (node.test,)
    bounded = (
        isinstance(t, ir.Compare) and any(isinstance(c, ir.Const) for c in t.comparators) for t in tests
    )
    return all(bounded) and not node.orelse and all(map(_reports, node.body))


def skips_update(node: ir.If, body: ir.Block, loop: ir.Node | None) -> bool:
    """Return whether a branch leaves out the update that the other branch makes, or the rest of the
    iteration: `if loss.item() > limit: print(loss.item()); continue`."""
    if not body or any(map(_updates, body)):
        return False
    other = node.orelse if body is node.body else node.body
    if any(map(_updates, other)):
        return True
    last, around = body[-1], loop.body if isinstance(loop, ir.For | ir.While) else ()
    skips = isinstance(last, ir.Jump) and last.kind == "continue" and node in around
    return skips and any(_updates(statement) for statement in around if statement.start > node.start)


def _updates(statement: ir.Stmt) -> bool:
    """Return whether a statement runs a backward pass or steps an optimizer, by its name."""
    methods = (part.func for part in ir.walk(statement) if isinstance(part, ir.Call))
    return any(
        method.attr == "backward" or (method.attr == "step" and _OPTIMIZER.search(path_of(method.value)))
        for method in methods
        if isinstance(method, ir.Attribute)
    )


def _reports(statement: ir.Stmt) -> bool:
    called = called_name(statement)
    return called == "print" or called in table.names("reads", "loggers")


def _makes_what_is_missing(node: ir.If, body: ir.Block, scope: Scope) -> bool:
    """Return whether a branch sets the attribute that its test asks for, which the function never unsets:
    `if self.index is None: self.index = self.find(t)`."""
    missing = _asked_for(node.test)
    if missing is None or body is not (node.body if missing[1] else node.orelse):
        return False
    asked = missing[0]
    function = scope.node
    if function is None:
        return False
    set_by = list(_set_by(body, scope))
    for name in (asked, f"_{asked}"):  # which a property may return
        found = [b for b in scope.find(f"self.{name}") if b.kind == "value"]
        if any(_is_none(b.value) and _within(b, function) for b in found):
            return False
        if any(not _is_none(b.value) and _within(b, one) for one in set_by for b in found):
            return True
    return False


def _asked_for(test: ir.Expr) -> tuple[str, bool] | None:
    """Return the attribute of `self` that a test looks for, and whether the test holds without it."""
    match test:
        case ir.Unary(op="not", operand=operand):
            inner = _asked_for(operand)
            return None if inner is None else (inner[0], not inner[1])
        case ir.Compare(left=ir.Attribute(value=ir.Name(id="self"), attr=name), ops=("is" | "is not" as op,)):
            return (name, op == "is") if _is_none(test.comparators[0]) else None
        case ir.Call(
            func=ir.Name(id="hasattr"),
            args=(ir.Arg(value=ir.Name(id="self")), ir.Arg(value=ir.Const(value=str() as name))),
        ):
            return name, False
    return None


def _set_by(body: ir.Block, scope: Scope) -> Iterator[ir.Node]:
    """Yield the statements of a branch, and the methods of the same object that it calls."""
    for statement in body:
        yield statement
        for call in ir.walk(statement):
            path = path_of(call.func) if isinstance(call, ir.Call) else ""
            if path.startswith("self."):
                yield from (b.node for b in scope.find(path) if isinstance(b.node, ir.FunctionDef))


def _within(binding: Binding, node: ir.Node) -> bool:
    return node.start <= binding.start < node.end


def _is_none(node: ir.Expr | None) -> bool:
    """Return whether an expression is `None`."""
    return isinstance(node, ir.Const) and node.value is None


def _asks_for_none(test: ir.Expr) -> bool:
    """Return whether a test compares names with None."""
    match test:
        case ir.Bool(values=values):
            return all(map(_asks_for_none, values))
        case ir.Compare(left=ir.Name(), comparators=(right,)):
            return _is_none(right)
    return False


def _warns(statement: ir.Stmt) -> bool:
    """Return whether a statement only _warns: `logger.warning(...)`."""
    return called_name(statement).startswith("warn")


def called_name(statement: ir.Stmt) -> str:
    """Return the last name of what a statement only calls."""
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    return path_of(call.func).rpartition(".")[2] if isinstance(call, ir.Call) else ""
