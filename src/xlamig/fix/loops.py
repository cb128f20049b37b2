"""Questions about a loop of steps: where its parameters are updated, what ends each of its iterations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.facts import Span
from xlamig.fix.names import names_bound, names_read
from xlamig.fix.scopes import bindings, path_to
from xlamig.knowledge import helpers

Loop = ir.For | ir.While
BOUNDARIES = {helpers.BOUNDARY, "sync", "mark_step"}  # the last names of calls that end a step
OWN_BODIES = (ir.FunctionDef, ir.ClassDef, ir.Lambda)
_SCHEDULER = re.compile(r"sched|warmup|plateau|(?:^|_)lr_", re.IGNORECASE)
_SCHEDULES = re.compile(r"Scheduler|LR$|Plateau|Warm")


def loop_of(module: ir.Module, body: Span | None) -> Loop | None:
    """The loop whose body has this span."""
    around = path_to(module, *body) if body else []
    loops = (node for node in around if isinstance(node, Loop))
    return next((loop for loop in loops if (loop.body[0].start, loop.body[-1].end) == body), None)


def ends_each_round(loop: Loop) -> bool:
    """Nothing goes on to the next iteration before the end of the body."""
    return not any(isinstance(n, ir.Jump) and n.kind == "continue" for n in _own_round(loop))


def updated_by(module: ir.Module, loop: Loop) -> ir.Stmt | None:
    """The statement after which the parameters are new, in every iteration that computes gradients; None
    where gradients may go on to be summed up, or where that is not plain to see."""
    steps = [s for s in _within(loop) if isinstance(s, ir.ExprStmt) and is_update(module, s.value)]
    if not steps:
        return None
    chains = [_chain(loop, step) for step in steps]
    if any(isinstance(s, Loop) for chain in chains for _, s in chain):
        return None
    depth = 0  # how far down the statements around all updates are the same
    while all(len(c) > depth and c[depth][1] is chains[0][depth][1] for c in chains):
        depth += 1
    common = chains[0][:depth]
    if not common or (len(chains) > 1 and not isinstance(common[-1][1], ir.If)):
        return None
    return _where_gradients_pass(loop, common)


def _where_gradients_pass(loop: Loop, down: list[tuple[ir.Block, ir.Stmt]]) -> ir.Stmt | None:
    """The last of the statements that lead `down` to an update, or one above it that tests something
    which the loop does not change, if every iteration with a backward pass gets there."""
    changing = {name for node in ir.walk(loop) for name in names_bound(node)}
    backward = [node for statement in _within(loop) for node in _backward_of(statement)]
    level = len(down) - 1
    found = down[level][1]
    while True:
        while level and isinstance(down[level - 1][1], ir.With):
            level -= 1
        block = down[level][0]
        inside = [node for s in block for node in ir.walk(s) if is_backward(node)]
        if block is loop.body or (backward and len(inside) == len(backward)):
            return found
        level -= 1
        found = down[level][1]
        if not isinstance(found, ir.If) or not is_setting(found.test, changing):
            return None


def is_setting(test: ir.Expr, changing: set[str]) -> bool:
    """`use_amp`, `not args.manual`: what it asks is the same in every iteration."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return is_setting(operand, changing)
        case ir.Bool(values=values):
            return all(is_setting(value, changing) for value in values)
        case ir.Name(id=name):
            return name not in changing
        case ir.Attribute():
            names = names_read(test)
            return bool(names) and not names & {*changing, "self"}
    return False


def _within(loop: Loop) -> Iterator[ir.Stmt]:
    return (node for node in own_nodes(loop.body) if isinstance(node, ir.Stmt))


def _own_round(loop: Loop) -> Iterator[ir.Node]:
    return own_nodes(loop.body, (*OWN_BODIES, ir.For, ir.While))


def own_nodes(roots: Iterable[ir.Node], opaque: tuple[type, ...] = OWN_BODIES) -> Iterator[ir.Node]:
    """Yield `roots` and what is below them, in order, but nothing below an `opaque` node: by default the
    bodies of functions and classes, which run elsewhere."""
    stack = list(roots)
    while stack:
        node = stack.pop(0)
        yield node
        if not isinstance(node, opaque):
            stack[:0] = ir.children(node)


def _chain(loop: Loop, statement: ir.Stmt) -> list[tuple[ir.Block, ir.Stmt]]:
    """The statements from the loop's body down to `statement`, each with the block that holds it."""
    path = path_to(ir.Module(loop.start, loop.end, (loop,), 0, "\n", ""), statement.start, statement.end)
    found: list[tuple[ir.Block, ir.Stmt]] = []
    owner: ir.Node = loop
    for node in path[2:]:
        if isinstance(node, ir.Stmt):
            found.append((_block(owner, node), node))
        owner = node
    return found


def _block(owner: ir.Node, statement: ir.Stmt) -> ir.Block:
    blocks = (getattr(owner, name, ()) for name in ("body", "orelse", "final"))
    return next((b for b in blocks if isinstance(b, tuple) and any(s is statement for s in b)), ())


def is_update(module: ir.Module, node: ir.Expr) -> bool:
    """Return whether an expression steps an optimizer, or a scaler that does."""
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr="step")):
            name = owner.attr if isinstance(owner, ir.Attribute) else getattr(owner, "id", "")
            return not _SCHEDULER.search(name) and not any(
                isinstance(b, ir.Assign) and _SCHEDULES.search(_called_name(b.value))
                for b in bindings(module, name)
            )
    return False


def _called_name(node: ir.Expr) -> str:
    func = node.func if isinstance(node, ir.Call) else None
    return func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")


def _backward_of(statement: ir.Stmt) -> list[ir.Node]:
    """The backward passes in a statement that holds no other statement."""
    inner = [n for n in ir.walk(statement) if isinstance(n, ir.Stmt) and n is not statement]
    return [] if inner else [n for n in ir.walk(statement) if is_backward(n)]


def is_backward(node: ir.Node) -> bool:
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == "backward"


def has_event(module: ir.Module, statement: ir.Stmt) -> bool:
    """Return whether a statement computes gradients or steps an optimizer."""
    nodes = own_nodes((statement,))
    return any(is_backward(n) or (isinstance(n, ir.ExprStmt) and is_update(module, n.value)) for n in nodes)
