"""The value that an attribute was given above, in the same function."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of


def value_above(node: ir.Expr, name: str, scope: Scope) -> ir.Expr | None:
    """Return the only value that `self.name` may have at a place of the function that gives it all its
    values in the class; None for another."""
    owner = scope.class_scope
    bindings = owner.attributes.get(name, ()) if owner is not None and owner is not scope else ()
    if not bindings or any(binding.scope is not scope for binding in bindings):
        return None
    body = scope.node.body if isinstance(scope.node, ir.FunctionDef) else ()
    return _at(body, f"self.{name}", node.start, None)


def _at(body: Iterable[ir.Stmt], path: str, start: int, value: ir.Expr | None) -> ir.Expr | None:
    """Return the value that a path has at a place in a block, from the one that it has before it."""
    for statement in body:
        if statement.start <= start < statement.end:
            return _inside(statement, path, start, value)
        if isinstance(statement, ir.Assign) and [path_of(one) for one in statement.targets] == [path]:
            value = statement.value
        elif may_set(statement, path):
            value = None
    return None


def _inside(statement: ir.Stmt, path: str, start: int, value: ir.Expr | None) -> ir.Expr | None:
    if isinstance(statement, ir.Assign | ir.AnnAssign | ir.AugAssign):
        return value
    if not isinstance(statement, ir.If | ir.With) and may_set(statement, path):
        return None
    for block in ir.blocks_of(statement):
        if block and block[0].start <= start < block[-1].end:
            return _at(block, path, start, value)
    return None if isinstance(statement, ir.FunctionDef | ir.ClassDef) else value


def may_set(statement: ir.Stmt, path: str) -> bool:
    """Return whether something in a statement gives a path a value."""
    return any(path_of(target) == path for node in ir.walk(statement) for target in _targets(node))


def _targets(node: ir.Node) -> Iterable[ir.Expr]:
    """Return what a node gives a value to."""
    match node:
        case ir.Assign(targets=targets):
            return [one for target in targets for one in ir.walk(target) if isinstance(one, ir.Expr)]
        case ir.AnnAssign(target=target) | ir.AugAssign(target=target) | ir.For(target=target):
            return [one for one in ir.walk(target) if isinstance(one, ir.Expr)]
        case ir.With(items=items):
            return [item.target for item in items if item.target is not None]
    return ()
