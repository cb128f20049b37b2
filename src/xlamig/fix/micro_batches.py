"""One boundary below a backward pass and the branch that updates every n-th time, instead of two."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.fix.context import FixContext
from xlamig.fix.loops import Loop, own_nodes
from xlamig.fix.names import names_bound
from xlamig.fix.scopes import below_in, block_of, dotted_name
from xlamig.fix.step_end import end_of_step, reads_value

_LEAVES = (ir.Jump, ir.Return, ir.Raise, ir.Yield, ir.Await)


def join_ends(context: FixContext, loop: Loop, ends: Sequence[ir.Stmt]) -> list[ir.Stmt]:
    """Return the statements after which a step ends; a backward pass and the branch below it that updates
    end with the branch where nothing in between needs a value or leaves the iteration."""
    found: list[ir.Stmt] = []
    for end in ends:
        branch = _branch_below(context, loop, found[-1], end) if found else None
        if branch is None:
            found.append(end)
        else:
            found[-1] = branch
    return found


def _branch_below(context: FixContext, loop: Loop, backward: ir.Stmt, update: ir.Stmt) -> ir.If | None:
    block = block_of(context.module, backward) or ()
    for statement in below_in(block, backward) or ():
        if reads_value(context, statement) or any(isinstance(n, _LEAVES) for n in own_nodes((statement,))):
            return None
        if any(node is update for node in own_nodes((statement,))):
            return (
                statement
                if isinstance(statement, ir.If) and _joins(context, loop, statement, update)
                else None
            )
        if not isinstance(statement, ir.ExprStmt | ir.Assign | ir.AugAssign | ir.AnnAssign):
            return None
    return None


def _joins(context: FixContext, loop: Loop, branch: ir.If, update: ir.Stmt) -> bool:
    inside = block_of(context.module, update) or ()
    if branch.orelse or inside is not branch.body or not _counts(branch.test, loop):
        return False
    return _is_last(inside, end_of_step(context, update))


def _is_last(block: ir.Block, end: ir.Stmt) -> bool:
    """Return whether what follows in a block calls nothing: `updates += 1`."""
    rest = below_in(block, end)
    calls = (isinstance(node, ir.Call) for statement in rest or () for node in ir.walk(statement))
    return rest is not None and not any(calls)


def _counts(test: ir.Expr, loop: Loop) -> bool:
    """Return whether a test asks for numbers of the host alone: settings, lengths, counters of the loop."""
    changing: set[str] = set()
    for node in own_nodes(loop.body):
        counting = isinstance(node, ir.AugAssign) and isinstance(node.value, ir.Const)
        targets = node.targets if isinstance(node, ir.Assign) else ()
        changing |= {dotted_name(t) for t in targets} | (set() if counting else set(names_bound(node)))
    changing |= set(names_bound(loop)) - _counters(loop)
    return all(_is_number(node, changing) for node in own_nodes((test,)))


def _is_number(node: ir.Node, changing: set[str]) -> bool:
    match node:
        case ir.Call(func=ir.Name(id="len")):
            return True
        case ir.Call() | ir.Subscript() | ir.Walrus():
            return False
        case ir.Name() | ir.Attribute():
            return dotted_name(node) not in changing
    return True


def _counters(loop: Loop) -> set[str]:
    """Return `i` of `for i, batch in enumerate(loader)` and of `for i in range(n)`."""
    match loop:
        case ir.For(
            target=ir.Sequence(elements=(ir.Name(id=name), *_)), iter=ir.Call(func=ir.Name(id="enumerate"))
        ):
            return {name}
        case ir.For(target=ir.Name(id=name), iter=ir.Call(func=ir.Name(id="range"))):
            return {name}
    return set()
