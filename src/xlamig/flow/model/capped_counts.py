"""Numbers of GPUs that a caller asks for and a function lowers to the number that is there."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.set_before import may_set

Counts = Callable[[ir.Expr], bool]
"""Says whether an expression counts the GPUs that are there."""


def is_capped(node: ir.Expr, scope: Scope, counts: Counts) -> bool:
    """Return whether a name is 0 at a place where there is no GPU, because the function lowers it before:
    `if wanted > there: wanted = there`, `if there == 0: wanted = 0`, `wanted = min(wanted, there)`."""
    path = path_of(node)
    given = scope.find(path) if path and isinstance(scope.node, ir.FunctionDef) else ()
    if not any(binding.kind == "value" and binding.end <= node.start for binding in given):
        return False
    body = scope.node.body if scope.node is not None else ()
    return _after(body, path, node.start, counts, False)


def _after(body: ir.Block, path: str, until: int, counts: Counts, capped: bool) -> bool:
    """Return whether a path is capped at the end of a block, or at the place `until` in it."""
    for statement in body:
        if statement.end > until:
            inner = [b for b in ir.blocks_of(statement) if b[0].start <= until < b[-1].end]
            nested = isinstance(statement, ir.FunctionDef | ir.ClassDef | ir.For | ir.While)
            return capped if nested or not inner else _after(inner[0], path, until, counts, capped)
        match statement:
            case ir.Assign(targets=(target,), value=value) if path_of(target) == path:
                capped = _is_lowered(value, path, counts)
            case ir.If(test=test, body=held, orelse=orelse):
                ends = [
                    _after(block, path, until, counts, capped or _is_fine(test, path, counts, holds))
                    for block, holds in ((held, True), (orelse, False))
                ]
                capped = all(ends)
            case _ if may_set(statement, path):
                capped = False
    return capped


def _is_lowered(value: ir.Expr, path: str, counts: Counts) -> bool:
    """Return whether a value is 0 where there is no GPU."""
    match value:
        case ir.Const(value=0):
            return True
        case ir.Call(func=ir.Name(id="min"), args=args):
            return any(_is_lowered(arg.value, path, counts) for arg in args)
        case ir.IfExp(test=test, body=body, orelse=orelse):
            return all(
                _is_lowered(side, path, counts)
                or (path_of(side) == path and _is_fine(test, path, counts, holds))
                for side, holds in ((body, True), (orelse, False))
            )
    return counts(value)


def _is_fine(test: ir.Expr, path: str, counts: Counts, holds: bool) -> bool:
    """Return whether a path is 0, or there is a GPU, where a test holds, or where it does not."""
    match test:
        case ir.Bool(op=op, values=values):
            each = [_is_fine(value, path, counts, holds) for value in values]
            return any(each) if (op == "and") is holds else all(each)
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            return _compares(left, op, right, path, counts, holds)
    return False


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _compares(left: ir.Expr, op: str, right: ir.Expr, path: str, counts: Counts, holds: bool) -> bool:
    if op not in _MIRRORED:
        return False
    op = op if holds else _OPPOSITE[op]
    for one, sign, other in ((left, op, right), (right, _MIRRORED[op], left)):
        number = other.value if isinstance(other, ir.Const) else None
        if path_of(one) == path and (counts(other) or number == 0):
            return sign in ("<=", "<", "==")
        if counts(one) and number in (0, 1):
            return (sign, number) in ((">", 0), ("!=", 0), (">=", 1), (">", 1))
    return False
