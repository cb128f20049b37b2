"""Names that an iteration of a loop may find as an earlier one has left them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xlamig import ir
from xlamig.per_file import per_file


@per_file
@cache
def read_first(loop: ir.For | ir.While) -> frozenset[str]:
    """Return the names that an iteration may read before it assigns to them: `if i: x[~done] = 0` above
    `done = y > 0`, and `if i: out = out + x`, `else: out = x`."""
    assigned: dict[str, int] = {}  # by name, where the first assignment that always runs has ended
    for name, end in _assigned(loop.body):
        assigned[name] = min(end, assigned.get(name, end))
    nodes = [node for statement in loop.body for node in ir.walk(statement)]
    targets = {id(name) for node in nodes for target in _targets(node) for name in ir.target_names(target)}
    reads = (node for node in nodes if isinstance(node, ir.Name) and id(node) not in targets)
    return frozenset(node.id for node in reads if node.start < assigned.get(node.id, loop.end))


def _assigned(block: ir.Block) -> Iterator[tuple[str, int]]:
    """Yield the names that a block assigns to in any case, and where it has done so; a loop in it counts."""
    for statement in block:
        match statement:
            case ir.Assign() | ir.AnnAssign(value=ir.Expr()):
                yield from ((n.id, statement.end) for t in _targets(statement) for n in ir.target_names(t))
            case ir.For(target=target, body=body):
                yield from ((name.id, target.end) for name in ir.target_names(target))
                yield from _assigned(body)
            case ir.With(items=items, body=body):
                yield from (
                    (n.id, i.target.end) for i in items if i.target for n in ir.target_names(i.target)
                )
                yield from _assigned(body)
            case ir.While(body=body) | ir.Try(body=body):
                yield from _assigned(body)


def _targets(node: ir.Node) -> tuple[ir.Expr, ...]:
    match node:
        case ir.Assign(targets=targets):
            return targets
        case ir.AnnAssign(target=target) | ir.For(target=target) | ir.Walrus(target=target):
            return (target,)
        case ir.With(items=items):
            return tuple(item.target for item in items if item.target is not None)
    return ()
