"""Reads in a loop that decodes: of what its iterations compute one from another, or of something else."""

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
    carried = _carried(loop) if read else frozenset()
    return bool(carried) and not any(_names(node) & (carried | {"self"}) for node in read)


def _carried(loop: Loop) -> frozenset[str]:
    """Return the names that hold something of an earlier iteration, and those computed from them."""
    pairs = sorted(_assignments(loop.node.body), key=lambda pair: pair[1].start)
    assigned = [(_names(target), _names(value)) for target, value in pairs]
    later = {name for targets, _ in assigned for name in targets}
    found: set[str] = set()
    for targets, values in assigned:
        found |= values & later
        later -= targets
    grown = True
    while grown:
        new = {name for targets, values in assigned if values & found for name in targets} - found
        grown = bool(new)
        found |= new
    return frozenset(found)


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
