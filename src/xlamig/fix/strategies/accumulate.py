"""Sums that are taken on the device: `total += loss.item()` becomes `total += loss.detach()`."""

from __future__ import annotations

from dataclasses import replace

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import Loop, ends_each_round, is_backward
from xlamig.fix.scopes import Function, path_to, reads, statement_at
from xlamig.fix.strategies.step_boundary import boundary_after
from xlamig.knowledge import helpers

_BOUNDARIES = {helpers.BOUNDARY, "sync", "mark_step", "optimizer_step"}


def accumulate(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The sum is read once, right after the loop, and is a number again from there on. The steps of the
    loop have to end without the read: where it trains there is a boundary, elsewhere one is written."""
    if not isinstance(fact, HostRead) or fact.via != "item":
        return None
    statement = statement_at(context.module, fact.span)
    read = _read_of(statement)
    if not isinstance(statement, ir.AugAssign) or read is None or (read.start, read.end) != fact.span:
        return None
    path = path_to(context.module, statement.start, statement.end)
    loop = next((n for n in reversed(path) if isinstance(n, Loop | Function)), None)
    owner = next((n for n in reversed(path) if isinstance(n, Function | ir.ClassDef)), context.module)
    if not isinstance(loop, Loop) or loop.orelse or not isinstance(statement.target, ir.Name):
        return None
    name = statement.target.id
    if not _starts_as_number(owner, loop, name) or len(reads(loop, name)) != 1:
        return None
    torch = ensure_module(context, "torch", (loop.end, loop.end))
    line = f"{name} = {torch.name}.as_tensor({name}).item()" if torch else ""
    after = insert_after(context, loop, (line,))
    ending = _boundary(fact, context, loop)
    if torch is None or after is None or ending is None:
        return None
    func = read.func
    assert isinstance(func, ir.Attribute)
    rest = [edit for edit in ending.edits if edit.place != after.place]
    for edit in ending.edits:
        if edit.place == after.place:  # the loop's last line is that of its body
            after = replace(after, content=edit.content + after.content)
    edits = (*torch.edits, *rest, context.edit(func.attr_start, func.end, "detach"), after)
    return Draft(f"Sum `{name}` up on the device and read it after the loop", edits, ending.creates)


def _read_of(statement: ir.Stmt | None) -> ir.Call | None:
    """The `.item()` in `total += t.item()`, also with a factor on either side."""
    value = statement.value if isinstance(statement, ir.AugAssign) and statement.op in ("+", "+=") else None
    sides = (value.left, value.right) if isinstance(value, ir.Binary) and value.op == "*" else (value,)
    found = [
        s
        for s in sides
        if isinstance(s, ir.Call) and isinstance(s.func, ir.Attribute) and s.func.attr == "item"
    ]
    return found[0] if len(found) == 1 and not found[0].args else None


def _starts_as_number(owner: ir.Node, loop: Loop, name: str) -> bool:
    """All that binds the name outside of the loop, in its own scope, is plain to see, and a number comes
    last before it."""
    before: ir.Stmt | None = None
    for node in ir.walk(owner):
        if isinstance(node, ir.Scoping) and name in node.names:
            return False
        if isinstance(node, Function) and node is not owner and reads(node, name):
            return False
        if isinstance(node, ir.Assign | ir.AugAssign) and node.end <= loop.start:
            targets = node.targets if isinstance(node, ir.Assign) else (node.target,)
            if any(name == n.id for t in targets for n in ir.walk(t) if isinstance(n, ir.Name)):
                before = node if before is None or node.start > before.start else before
    return (
        isinstance(before, ir.Assign)
        and isinstance(before.value, ir.Const)
        and type(before.value.value) in (int, float)
    )


def _boundary(fact: Fact, context: FixContext, loop: Loop) -> Draft | None:
    """Return the draft that ends the loop's steps; without edits if something does so already."""
    for node in ir.walk(loop):
        match node:
            case ir.Call(func=ir.Attribute(attr=called) | ir.Name(id=called)) if called in _BOUNDARIES:
                return Draft("")
    if any(is_backward(n) for n in ir.walk(loop)) or not ends_each_round(loop):
        return None
    return boundary_after(fact, context, loop.body[-1])
