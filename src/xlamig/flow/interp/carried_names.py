"""Names that a loop carries from one iteration to the next, and reads of others."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DynamicShape, HostRead
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State


def reads_apart(m: State, loop: Loop) -> bool:
    """Return whether all reads of a loop are of values that the iterations do not compute one from another,
    such as the time steps of a sampler: such a read leaves what the loop carries to be computed."""
    events = (event for event in m.recorder.all() if event.fact in (HostRead, DynamicShape))
    read = [event.node for event in events if loop.node.start <= event.node.start < loop.node.end]
    carried = _carried(loop.node) if read else frozenset()
    return bool(carried) and not any(_names(node) & (carried | {"self"}) for node in read)


def replaced(node: ir.For | ir.While) -> frozenset[str]:
    """Return the names that each iteration assigns, and that hold nothing of an earlier one."""
    assigned = {name for target, _ in _assignments(node.body) for name in _names(target)}
    return frozenset(assigned | _targets(node)) - _carried(node)


def moves_on(node: ir.For | ir.While, name: str) -> bool:
    """Return whether a loop adds to a number, and indexes something by it: `x[:, offset]; offset += n`."""
    parts = [part for statement in node.body for part in ir.walk(statement)]
    return any(_adds_to(part, name) for part in parts) and any(
        name in _names(index) for part in parts if isinstance(part, ir.Subscript) for index in part.index
    )


def _adds_to(node: ir.Node, name: str) -> bool:
    match node:
        case ir.AugAssign(target=ir.Name(id=target), op="+" | "+="):
            return target == name
        case ir.Assign(targets=(ir.Name(id=target),), value=ir.Binary(op="+", left=left, right=right)):
            return target == name and name in _names(left) | _names(right)
    return False


def _carried(node: ir.For | ir.While) -> frozenset[str]:
    """Return the names that hold something of an earlier iteration, and those computed from them."""
    assigned = [(_names(target), _names(value)) for target, value in _assignments(node.body)]
    later = {name for targets, _ in assigned for name in targets} - _targets(node)
    found = _used_before(node.body, later)
    grown = True
    while grown:
        new = {name for targets, values in assigned if values & found for name in targets} - found
        grown = bool(new)
        found |= new
    return frozenset(found)


def _used_before(block: ir.Block, later: set[str]) -> set[str]:
    """Return the names of `later` that a block uses before it assigns to them, and take those away that it
    assigns to on every path."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, ir.If):
            ways = set(later), set(later)
            found |= _used_before(statement.body, ways[0]) | _used_before(statement.orelse, ways[1])
            later &= ways[0] | ways[1]
        elif isinstance(statement, ir.With):
            found |= _used_before(statement.body, later)
        else:
            for target, value in sorted(_assignments((statement,)), key=lambda pair: pair[1].start):
                found |= _names(value) & later
                later -= _names(target)
    return found


def _targets(node: ir.For | ir.While) -> set[str]:
    return _names(node.target) if isinstance(node, ir.For) else set()


def _assignments(block: ir.Block) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield the targets and values of a block's assignments."""
    for statement in block:
        for node in ir.walk(statement):
            match node:
                case ir.Assign(targets=targets, value=value):
                    yield from ((target, value) for target in targets)
                case ir.AugAssign(target=target, value=value):
                    yield target, target
                    yield target, value


def _names(node: ir.Node) -> set[str]:
    return {part.id for part in ir.walk(node) if isinstance(part, ir.Name)}
