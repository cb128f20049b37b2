"""Moves a statement that records the loss behind the boundary that ends its step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.imports import after_newline, line_end, line_start
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import BOUNDARIES, Loop
from xlamig.fix.losses import differentiated_names
from xlamig.fix.names import last_name, names_bound, names_read
from xlamig.fix.recovery import is_guarded
from xlamig.fix.scopes import block_of, dotted_name, path_to, statement_at

_UPDATES = {"backward", "clip_grad_norm_", "clip_grad_value_", "step", "unscale_", "update", "zero_grad"}
_RECORDERS = {"add_scalar", "append", "info", "log", "print", "set_description", "set_postfix", "write"}
_METER = re.compile(r"meter|metric|loss|average|avg|^(?:top|acc|prec)\w*$", re.IGNORECASE)
_PURE = {
    "all", "any", "detach", "float", "format", "int", "isfinite", "isinf", "isnan", "item", "round", "str",
}  # fmt: skip
_LIBRARIES = {"math", "np", "torch"}
_EXITS = {"exit", "_exit", "quit"}
_SETTINGS = {"args", "cfg", "config", "hparams", "opt", "opts"}


def read_after_boundary(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`meter.update(loss.item())` stands above the optimizer's step. Between it and the boundary there is
    nothing but the update, and of tensors it names the loss alone: another one may share the memory of a
    parameter, and have another value after the step. Option `stops`: a check that stops the program moves
    too, after which the parameters have been updated when it stops; not where a `try` may catch that."""
    if not isinstance(fact, HostRead) or fact.boundary != "before":
        return None
    statement = statement_at(context.module, fact.span)
    block = block_of(context.module, statement) if statement else None
    loop = next((n for n in reversed(path_to(context.module, *fact.span)) if isinstance(n, Loop)), None)
    if statement is None or block is None or loop is None:
        return None
    passed = _up_to_boundary(block, statement)
    recorded = _recorded_values(statement)
    if recorded is None and options.get("stops"):
        recorded = _checked_values(statement)
        if recorded and is_guarded(context.module, statement):
            raise FixDeclined("a `try` may go on after the stop, with the parameters of the failed update")
    if not passed or recorded is None or not _is_apart(statement, recorded, passed, loop):
        return None
    return _move_line(context, statement, passed[-1])


def _move_line(context: FixContext, statement: ir.Stmt, boundary: ir.Stmt) -> Draft | None:
    """Return the draft that moves the line of a statement; None if the statement shares its line."""
    text = context.source.text
    start, end = line_start(text, statement.start), line_end(text, statement.end)
    rest = text[statement.end : end].strip()
    if text[start : statement.start].strip() or (rest and not rest.startswith("#")):
        return None
    below = insert_after(context, boundary, [text[statement.start : end].rstrip()])
    if below is None or below.content.startswith(";"):
        return None
    shown = " ".join(text[statement.start : statement.end].split())
    return Draft(
        f"Move `{shown}` behind the step boundary", (context.edit(start, after_newline(text, end), ""), below)
    )


def _up_to_boundary(block: ir.Block, statement: ir.Stmt) -> Sequence[ir.Stmt]:
    """Return the statements after `statement` to the boundary; none if anything but an update is there."""
    rest = block[next(i for i, s in enumerate(block) if s is statement) + 1 :]
    for index, one in enumerate(rest):
        if _called_name(one) in BOUNDARIES:
            return rest[: index + 1]
        if not _is_update(one) and not _meter(one):
            break
    return ()


def _meter(statement: ir.Stmt) -> str:
    """Return the name of the meter that a statement updates with values of its own: `top1.update(acc, n)`."""
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=ir.Name(id=name), attr="update") as func)):
            return name if _is_recorder(func) else ""
    return ""


def _is_update(statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.If):
        return all(map(_is_update, (*statement.body, *statement.orelse)))
    return _called_name(statement) in _UPDATES


def _called_name(statement: ir.Stmt) -> str:
    """Return the last name of the function that a statement calls; "" if it does more."""
    if isinstance(statement, ir.ExprStmt | ir.Assign) and isinstance(statement.value, ir.Call):
        return last_name(statement.value.func)
    return ""


def _is_apart(statement: ir.Stmt, recorded: Sequence[ir.Expr], passed: Sequence[ir.Stmt], loop: Loop) -> bool:
    """Return whether a statement reads the loss alone, and has nothing else to do with those it passes."""
    losses = differentiated_names(loop)
    known = losses | _SETTINGS | _LIBRARIES | set(_counters(loop))
    bound = {name for one in passed for node in ir.walk(one) for name in names_bound(node)}
    meters = set(filter(None, map(_meter, passed)))
    used = meters | {name for one in passed if not _meter(one) for name in names_read(one)}
    if set(names_bound(statement)) & used or names_read(statement) & (bound | (used - losses - _SETTINGS)):
        return False
    return all(set(_leaves(part)) <= known for part in recorded)


def _recorded_values(statement: ir.Stmt) -> Sequence[ir.Expr] | None:
    """Return what a statement prints or keeps; None if it may do something else."""
    match statement:
        case ir.ExprStmt(value=ir.Call(func=func, args=args)) if _is_recorder(func):
            return [arg.value for arg in args]
        case ir.AugAssign(target=ir.Name(), value=value) | ir.Assign(targets=(ir.Name(),), value=value):
            return [value]
    return None


def _checked_values(statement: ir.Stmt) -> Sequence[ir.Expr] | None:
    """Return what `assert ok` and `if bad: raise ...` test and tell; None if more than a record is made."""
    match statement:
        case ir.Assert(test=test, message=message):
            return [test, *([message] if message else [])]
        case ir.If(test=test, body=(*before, last), orelse=()):
            parts = [_stopping(last), *map(_recorded_values, before)]
            return [test, *(one for part in parts for one in part or ())] if None not in parts else None
    return None


def _stopping(statement: ir.Stmt) -> Sequence[ir.Expr] | None:
    """Return the arguments of a statement that ends the program; None if it does not."""
    match statement:
        case ir.Raise(value=ir.Call(args=args), cause=None):
            return [arg.value for arg in args]
        case ir.ExprStmt(value=ir.Call(func=func, args=args)) if last_name(func) in _EXITS:
            return [arg.value for arg in args]
    return None


def _is_recorder(func: ir.Expr) -> bool:
    if isinstance(func, ir.Attribute) and func.attr == "update":  # others may change a learning rate
        owner = func.value.value if isinstance(func.value, ir.Subscript) else func.value
        return _METER.search(last_name(owner)) is not None
    return last_name(func) in _RECORDERS


def _leaves(node: ir.Node) -> Iterator[str]:
    """Yield the names that a value is computed from, but those that it takes a size of; "" for something that
    may do more than compute."""
    match node:
        case ir.Call(func=ir.Attribute(attr="size") | ir.Name(id="len")) | ir.Attribute(attr="shape"):
            return
        case ir.Call(func=func) if last_name(func) not in _PURE:
            yield ""
        case ir.Call(func=func):
            for part in (*ir.children(func), *(arg.value for arg in node.args)):
                yield from _leaves(part)
        case ir.Attribute() if "." in dotted_name(node):
            yield dotted_name(node).partition(".")[0]
        case ir.Await() | ir.Yield() | ir.Walrus() | ir.Lambda() | ir.Comprehension():
            yield ""
        case ir.Name(id=name):
            yield name
        case _:
            for child in ir.children(node):
                yield from _leaves(child)


def _counters(loop: Loop) -> Iterator[str]:
    """Yield `i` of `for i in range(n)` and `for i, batch in enumerate(loader)`."""
    match loop:
        case ir.For(target=ir.Name(id=name), iter=ir.Call(func=ir.Name(id="range"))):
            yield name
        case ir.For(
            target=ir.Sequence(elements=(ir.Name(id=name), *_)), iter=ir.Call(func=ir.Name(id="enumerate"))
        ):
            yield name
