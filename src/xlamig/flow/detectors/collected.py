"""Find out whether a value is a result: returned, or kept in a container, without being computed with."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.detectors.consumers import CONTAINERS, is_assigned, uses_of_name, variable_of
from xlamig.flow.model.scopes import path_of

_FOLLOWED = 3  # variables, one made from the other
_SIZES = frozenset({"numel", "nelement", "size", "shape", "dim", "ndim"})


def is_collected(
    node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt], followed: int = _FOLLOWED
) -> bool:
    """Return whether a statement returns the value of `node`, yields it or puts it in a container, or the
    statements after it do nothing else with the variable that holds it but ask for its size."""
    path = [*ir.path_down(statement, node)]
    holders = [above for above in path if not isinstance(above, ir.Stmt | ir.Arg | ir.Generator)]
    for above in reversed(holders):
        if isinstance(above, ir.Yield) or (isinstance(above, ir.Call) and _puts(above, node)):
            return True
        if not _holds(above, node):
            return False
    match statement:
        case ir.Return():
            return True
        case ir.AugAssign(value=ir.Sequence(kind="list")):
            return True
        case ir.Assign(targets=(ir.Subscript(index=(ir.Const(value=str()),)),)):
            return True
        case ir.Assign(targets=(ir.Subscript(),)):
            return any(isinstance(above, ir.Sequence | ir.Dict) for above in holders)
    target = variable_of(statement)
    return target is not None and followed > 0 and _is_variable_collected(target, rest, followed)


def _is_variable_collected(target: str, rest: Sequence[ir.Stmt], followed: int) -> bool:
    collected = False
    for use, inner, following in uses_of_name(target, rest):
        if is_assigned(use, inner) or _asks_for_size(use, inner):
            continue
        if not is_collected(use, inner, following, followed - 1):
            return False
        collected = True
    return collected


def _puts(call: ir.Call, node: ir.Node) -> bool:
    return not ir.encloses(call.func, node) and CONTAINERS.search(path_of(call.func)) is not None


def _holds(above: ir.Node, node: ir.Node) -> bool:
    """Return whether the value of an expression holds that of `node`, or a slice of it."""
    match above:
        case ir.Sequence() | ir.Dict() | ir.Starred():
            return True
        case ir.IfExp(test=test):
            return not ir.encloses(test, node)
        case ir.Comprehension(element=element, value=value):
            return any(part is not None and ir.encloses(part, node) for part in (element, value))
        case ir.Subscript(value=value, index=index):
            return ir.encloses(value, node) and all(isinstance(part, ir.Slice) for part in index)
    return False


def _asks_for_size(use: ir.Name, statement: ir.Stmt) -> bool:
    match [*ir.path_down(statement, use)][-1:]:
        case [ir.Attribute(attr=attr)]:
            return attr in _SIZES
        case [ir.Arg()]:
            call = [*ir.path_down(statement, use)][-2]
            return isinstance(call, ir.Call) and path_of(call.func) == "len"
    return False
