"""Reads whose number is needed only below the update of their step, so that they can wait until there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlamig import ir
from xlamig.fix.loops import OWN_BODIES, Loop, is_update, own_nodes
from xlamig.fix.names import names_read
from xlamig.fix.scopes import bindings, function_around, path_to, reads
from xlamig.flow.model.exits import jumps_out


@dataclass(frozen=True, slots=True)
class Deferral:
    """`name = tensor.item()`, and the statement above which the number has to be there; with `starts` the
    name may hold another number there, which it started with."""

    name: str
    read: ir.Call
    use: ir.Stmt
    starts: bool


def deferral_of(module: ir.Module, statement: ir.Stmt) -> Deferral | None:
    """Return how `name = tensor.item()` waits for the update of its step; None if anything uses or binds the
    name before that, or in another function."""
    match statement:
        case ir.Assign(
            targets=(ir.Name(id=name),), value=ir.Call(func=ir.Attribute(attr="item"), args=()) as read
        ):
            pass
        case _:
            return None
    path = path_to(module, statement.start, statement.end)
    loop = next((n for n in reversed(path) if isinstance(n, (*OWN_BODIES, ir.For, ir.While))), None)
    if not isinstance(loop, Loop):
        return None
    owner = function_around(path)
    at = next(i for i, s in enumerate(loop.body) if s.start <= statement.start < s.end)
    starts = loop.body[at] is not statement
    if name in names_read(read) or (starts and not _starts_as_number(loop.body, at, name, statement)):
        return None
    if not _is_bound_once(owner, name, loop, statement, int(starts)):
        return None
    below = loop.body[at + 1 :]
    first = next((i for i, s in enumerate(below) if name in names_read(s)), None)
    if first is None or not any(_updates(module, s) for s in below[:first]):
        return None
    if any(_leaves(s) for s in (loop.body[at], *below[:first])):
        return None
    return Deferral(name, read, _place(below[first], reads(owner, name), statement, loop), starts)


def _starts_as_number(body: ir.Block, at: int, name: str, statement: ir.Stmt) -> bool:
    """Return whether the read is a branch's own statement, and a whole number such as 0.0 is set above it."""
    branch = body[at]
    if not isinstance(branch, ir.If) or branch.orelse or all(s is not statement for s in branch.body):
        return False
    if name in names_read(branch.test):
        return False
    match next((s for s in reversed(body[:at]) if name in names_read(s)), None):
        case ir.Assign(targets=(ir.Name(id=bound),), value=ir.Const(value=int() | float() as value)):
            return bound == name and value == int(value)
    return False


def _is_bound_once(owner: ir.Node, name: str, loop: Loop, statement: ir.Stmt, starts: int) -> bool:
    """Return whether an iteration uses the name only below the read, but for the number it starts with."""
    inside = (n for n in ir.walk(owner) if isinstance(n, OWN_BODIES) and n is not owner)
    if any(isinstance(b, ir.Scoping) for b in bindings(owner, name)) or any(reads(n, name) for n in inside):
        return False
    again = (b for b in bindings(owner, name) if statement.end <= b.start < loop.end)
    above = [use for use in reads(owner, name) if loop.start <= use.start < statement.start]
    return not any(again) and len(above) == starts


def _updates(module: ir.Module, statement: ir.Stmt) -> bool:
    nodes = own_nodes((statement,))
    return any(isinstance(node, ir.ExprStmt) and is_update(module, node.value) for node in nodes)


def _leaves(statement: ir.Stmt) -> bool:
    return any(map(jumps_out, own_nodes((statement,))))


def _place(first: ir.Stmt, uses: Sequence[ir.Name], statement: ir.Stmt, loop: Loop) -> ir.Stmt:
    """Return the first statement that needs the number: the top of a branch that alone uses it, or else the
    statement of the iteration."""
    if isinstance(first, ir.If):
        start, end = first.body[0].start, first.body[-1].end
        others = (use for use in uses if not statement.start <= use.start < statement.end)
        if all(start <= use.start < end for use in others):
            return first.body[0]
    return first
