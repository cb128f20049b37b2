"""The value that an attribute was given above, in the same function."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.per_file import per_file

_start = attrgetter("start")


def value_above(node: ir.Expr, name: str, scope: Scope) -> ir.Expr | None:
    """Return the only value that `self.name` may have at a place of the function that gives it all its
    values in the class; None for another."""
    owner = scope.class_scope
    bindings = owner.attributes.get(name, ()) if owner is not None and owner is not scope else ()
    if not bindings or any(binding.scope is not scope for binding in bindings):
        return None
    if not isinstance(scope.node, ir.FunctionDef):
        return None
    path = f"self.{name}"
    places = sorted((*set_in(scope.node).get(path, ()), node.start))
    return _at(scope.node.body, path, node.start, None, places)


def _at(
    body: ir.Block, path: str, start: int, value: ir.Expr | None, places: Sequence[int]
) -> ir.Expr | None:
    """Return the value that a path has at a place in a block, from the one that it has before it; it is set
    at the other `places`."""
    for statement in holding(body, places):
        if statement.start <= start < statement.end:
            return _inside(statement, path, start, value, places)
        value = None
        if isinstance(statement, ir.Assign) and [path_of(one) for one in statement.targets] == [path]:
            value = statement.value
    return value


def _inside(
    statement: ir.Stmt, path: str, start: int, value: ir.Expr | None, places: Sequence[int]
) -> ir.Expr | None:
    if isinstance(statement, ir.Assign | ir.AnnAssign | ir.AugAssign):
        return value
    if not isinstance(statement, ir.If | ir.With) and may_set(statement, path):
        return None
    for block in ir.blocks_of(statement):
        if block and block[0].start <= start < block[-1].end:
            return _at(block, path, start, value, places)
    return None if isinstance(statement, ir.FunctionDef | ir.ClassDef) else value


def may_set(statement: ir.Stmt, path: str) -> bool:
    """Return whether something in a statement gives a path a value."""
    return path in set_in(statement)


def holding(body: ir.Block, places: Sequence[int]) -> Iterator[ir.Stmt]:
    """Yield the statements of a block in which one of `places` is, which are sorted."""
    last = None
    if body:
        first, end = (bisect_left(places, place) for place in (body[0].start, body[-1].end))
        for place in places[first:end]:
            statement = body[bisect_right(body, place, key=_start) - 1]
            if statement is not last:
                yield statement
            last = statement


@per_file
@lru_cache(maxsize=64)  # each name of a function asks again
def set_in(root: ir.Node) -> Mapping[str, Sequence[int]]:
    """Return the places where something in a function or statement gives a path a value."""
    found: dict[str, list[int]] = {}
    for node in ir.walk(root):
        for target in _targets(node):
            found.setdefault(path_of(target), []).append(node.start)
    for places in found.values():
        places.sort()
    return found


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
