"""Keeps what a loop collects on the device: `total += loss.item()` becomes `total += loss.detach()`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import Loop, ends_each_round, is_backward
from xlamig.fix.scopes import Function, bindings, path_to, reads, statement_at
from xlamig.fix.strategies.step_boundary import boundary_after
from xlamig.knowledge import helpers

_BOUNDARIES = {helpers.BOUNDARY, "sync", "mark_step", "optimizer_step"}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A name that the iterations add to: `read` is the call that reads a value, `method` what it becomes,
    and `value` what `target` is after the loop, a template with `{torch}`."""

    name: str
    read: ir.Call
    method: str
    target: str
    value: str


def accumulate(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The sum is read once, right after the loop, and is a number again from there on; so are the items of a
    list. The steps of the loop have to end without the read: where it trains there is a boundary, elsewhere
    one is written."""
    if not isinstance(fact, HostRead) or fact.via != "item":
        return None
    statement = statement_at(context.module, fact.span)
    if statement is None:
        return None
    path = path_to(context.module, statement.start, statement.end)
    loop = next((n for n in reversed(path) if isinstance(n, Loop | Function)), None)
    owner = next((n for n in reversed(path) if isinstance(n, Function | ir.ClassDef)), context.module)
    if not isinstance(loop, Loop) or loop.orelse:
        return None
    kept = _sum(context, statement, owner, loop) or _list(context, statement, owner, loop)
    if kept is None or (kept.read.start, kept.read.end) != fact.span:
        return None
    torch = ensure_module(context, "torch", (loop.end, loop.end))
    line = f"{kept.target} = {kept.value.format(torch=torch.name)}" if torch else ""
    after = insert_after(context, loop, (line,))
    ending = _boundary(fact, context, loop)
    if torch is None or after is None or ending is None:
        return None
    func = kept.read.func
    assert isinstance(func, ir.Attribute)
    rest = [edit for edit in ending.edits if edit.place != after.place]
    for edit in ending.edits:
        if edit.place == after.place:  # the loop's last line is that of its body
            after = replace(after, content=edit.content + after.content)
    edits = (*torch.edits, *rest, context.edit(func.attr_start, func.end, kept.method), after)
    return Draft(f"Keep `{kept.name}` on the device and read it after the loop", edits, ending.creates)


def _sum(context: FixContext, statement: ir.Stmt, owner: ir.Node, loop: Loop) -> _Kept | None:
    """`total += t.item()`, and `sums["loss"] += t.item()`"""
    read = _read_of(statement)
    if not isinstance(statement, ir.AugAssign) or read is None:
        return None
    target = context.text_of(statement.target)
    match statement.target:
        case ir.Name(id=name):
            holds = _starts_as_number(owner, loop, name) and len(reads(loop, name)) == 1
        case ir.Subscript(value=ir.Name(id=name), index=(ir.Const(value=str(key)),)):
            holds = _starts_as_entry(owner, loop, name, key)
        case _:
            return None
    return _Kept(name, read, "detach", target, f"{{torch}}.as_tensor({target}).item()") if holds else None


def _list(context: FixContext, statement: ir.Stmt, owner: ir.Node, loop: Loop) -> _Kept | None:
    """`losses.append(loss.item())`"""
    match statement:
        case ir.ExprStmt(
            value=ir.Call(
                func=ir.Attribute(value=ir.Name(id=name), attr="append"),
                args=(ir.Arg(value=ir.Call(func=ir.Attribute(attr="item"), args=()) as read),),
            )
        ):
            first = _only_start(owner, loop, name)
            empty = isinstance(first, ir.Sequence) and first.kind == "list" and not first.elements
            if empty and len(reads(loop, name)) == 1:
                return _Kept(name, read, "detach().clone", name, f"[value.item() for value in {name}]")
    return None


def _only_start(owner: ir.Node, loop: Loop, name: str) -> ir.Expr | None:
    """Return what a name is set to before the loop, in the same iteration of the loops around; None where
    anything else may bind or use it up to the loop's end."""
    bound = bindings(owner, name)
    before = [node for node in bound if node.end <= loop.start]
    if len(before) != 1 or any(loop.start <= node.start < loop.end for node in bound):
        return None
    first = before[0]
    value = _assigned_value(first, name)
    if value is None:
        return None
    inside = (n for n in ir.walk(owner) if isinstance(n, Function) and n is not owner)
    if any(isinstance(n, ir.Scoping) for n in bound) or any(reads(n, name) for n in inside):
        return None
    around = (n for n in ir.walk(owner) if isinstance(n, Loop) and n.start < loop.start < n.end)
    shared = all(n.start < first.start for n in around)
    used = any(first.end <= n.start < loop.start for n in reads(owner, name))
    return value if shared and not used else None


def _starts_as_entry(owner: ir.Node, loop: Loop, name: str, key: str) -> bool:
    """The name is a dictionary of numbers to which the loop does nothing but add."""
    first = _only_start(owner, loop, name)
    if not isinstance(first, ir.Dict):
        return False
    starts = {k.value: v for k, v in zip(first.keys, first.values, strict=True) if isinstance(k, ir.Const)}
    start = starts.get(key)
    adding = [
        node.target.value
        for node in ir.walk(loop)
        if isinstance(node, ir.AugAssign) and isinstance(node.target, ir.Subscript)
    ]
    return (
        len(starts) == len(first.keys)
        and isinstance(start, ir.Const)
        and type(start.value) in (int, float)
        and all(any(use is target for target in adding) for use in reads(loop, name))
    )


def _read_of(statement: ir.Stmt | None) -> ir.Call | None:
    """The `.item()` in `total += t.item()`, also with a factor on either side, or to a power."""
    value = statement.value if isinstance(statement, ir.AugAssign) and statement.op in ("+", "+=") else None
    match value:
        case ir.Binary(op="*"):
            sides: tuple[ir.Expr | None, ...] = (value.left, value.right)
        case ir.Binary(op="**", right=ir.Const(value=int() | float())):
            sides = (value.left,)
        case _:
            sides = (value,)
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
    value = _assigned_value(before, name)
    return isinstance(value, ir.Const) and type(value.value) in (int, float)


def _assigned_value(statement: ir.Node | None, name: str) -> ir.Expr | None:
    """Return what an assignment gives a name: `total = 0`, `total = right = 0`, `total, right = 0, 0`."""
    match statement:
        case ir.Assign(targets=(ir.Sequence(elements=names),), value=ir.Sequence(elements=values)):
            pairs = zip(names, values, strict=False) if len(names) == len(values) else ()
            return next((v for n, v in pairs if isinstance(n, ir.Name) and n.id == name), None)
        case ir.Assign(targets=targets, value=value) if all(isinstance(t, ir.Name) for t in targets):
            return value
    return None


def _boundary(fact: HostRead, context: FixContext, loop: Loop) -> Draft | None:
    """Return the draft that ends the loop's steps; without edits if something does so already."""
    for node in ir.walk(loop):
        match node:
            case ir.Call(func=ir.Attribute(attr=called) | ir.Name(id=called)) if called in _BOUNDARIES:
                return Draft("")
    if _reads_gradients(loop):
        return Draft("")  # of one step, which stays one graph
    trains = any(is_backward(n) for n in ir.walk(loop)) or fact.loop == "training"
    if trains or not ends_each_round(loop):
        return None
    return boundary_after(fact, context, loop.body[-1])


def _reads_gradients(loop: Loop) -> bool:
    """Return whether the loop only goes through the gradients of parameters, whose number is fixed."""
    if not isinstance(loop, ir.For):
        return False
    names = {n.id for n in ir.walk(loop.target) if isinstance(n, ir.Name)}
    gradients = (n.value for n in ir.walk(loop) if isinstance(n, ir.Attribute) and n.attr == "grad")
    own = any(isinstance(value, ir.Name) and value.id in names for value in gradients)
    inside = [n for s in loop.body for n in ir.walk(s)]
    methods = all(isinstance(n.func, ir.Attribute) for n in inside if isinstance(n, ir.Call))
    return own and methods and not any(isinstance(n, Loop) for n in inside)
