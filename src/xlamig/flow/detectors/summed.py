"""Find out whether the host only adds up what it copies, `total += hits.cpu().sum().item()`."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.detectors.consumers import is_assigned, uses_of_name, variable_of
from xlamig.flow.model.scopes import path_of

_FOLLOWED = 3  # variables, one made from the other
_NUMBERS = frozenset({"float", "int"})
_REDUCTIONS = frozenset(
    {"sum", "mean", "item", "cpu", "detach", "float", "double", "int", "long", "numpy", "data"}
)


def is_summed(node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt], followed: int = _FOLLOWED) -> bool:
    """Return whether a statement adds the sum of what `node` copies to a total, or the statements after it do
    so with the variable that it is put in, and nothing else."""
    above = [part for part in ir.path_down(statement, node) if not isinstance(part, ir.Stmt | ir.Arg)]
    if not all(_reduces(part, node) for part in above if part is not node):
        return False
    match statement:
        case ir.AugAssign(op="+=" | "+", target=ir.Name() | ir.Attribute() | ir.Subscript()):
            return True
        case ir.Assign(targets=(total,), value=ir.Binary(op="+", left=left)) if path_of(total):
            return path_of(left) == path_of(total) and not ir.encloses(left, node)
    target = variable_of(statement)
    return target is not None and followed > 0 and _is_variable_summed(target, rest, followed)


def _is_variable_summed(target: str, rest: Sequence[ir.Stmt], followed: int) -> bool:
    summed = False
    for use, inner, following in uses_of_name(target, rest):
        if is_assigned(use, inner):
            return summed
        if not is_summed(use, inner, following, followed - 1):
            return False
        summed = True
    return summed


def _reduces(above: ir.Node, node: ir.Node) -> bool:
    """Return whether an expression around a value is a sum or mean of it, or a number made of it."""
    match above:
        case ir.Attribute(attr=name):
            return name in _REDUCTIONS
        case ir.Call(func=func, args=()) if ir.encloses(func, node):
            return True
        case ir.Call(func=ir.Name(id=name), args=(_,)):
            return name in _NUMBERS
        case ir.Binary(op="*" | "/" | "+"):
            return True
    return False
