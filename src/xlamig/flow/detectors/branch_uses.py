"""Find what a branch decides on whose test needs a value of the device."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import Consumer
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

LOGS = re.compile(
    r"^print$|(?:^|\.)(?:log\w*|debug|info|warning|add_(?:scalar|image|histogram|text|metric)s?|set_postfix\w*"
    r"|set_description\w*|write_(?:scalar|image)s?|plot|imshow)$|(?:^|[._])(?:wandb|writer|logger)\."
)
STEPS_ENVIRONMENT = re.compile(r"(?:^|\.|_)envs?\.(?:step|reset)$|(?:^|\.)(?:env_step|step_env)$")
_COUNTS = re.compile(r"^(?:n|num|cnt|count)_|(?:^|_)(?:num|cnt|count)s?$")
_ANY = frozenset({"any", "all", "sum", "numel", "count_nonzero"})
_UPDATES = frozenset({"backward", "step"})


def branch_of(body: ir.Block, test: ir.Expr, orelse: ir.Block = ()) -> Consumer:
    """Return what a test decides on: whether something is raised or logged, a loop ends, the parameters are
    updated, something is counted, which numbers the host keeps, how a sample's part of a list is made, which
    shape a tensor has, what Python keeps, or what is computed."""
    if ends_program(body):
        return check_of(test)
    if body and isinstance(body[-1], ir.Jump):
        if ends_loop(body):
            return "stop"
        if any(isinstance(node, ir.Call) and _adds(node) for node in _nodes(body)):
            return "sample"
    match body:
        case [ir.ExprStmt(value=ir.Call(func=func))] if LOGS.search(path_of(func)):
            return "log"
        case [ir.AugAssign(op="+" | "+=", value=ir.Const())]:
            return "count"
    if any(_updates(node) for node in _nodes(body)):
        return "update"
    if not orelse and _keeps_number(body, test):
        return "filter"
    if (changed := _states((*body, *orelse))) is not None and any(changed):
        return "state"
    if any(_changes_shape(statement, test) for statement in body):
        return "shape"
    if not asks_for_any(test):
        return "branch"
    return "empty" if body and _returns_nothing(body[-1]) else "any"


def _keeps_number(body: ir.Block, test: ir.Expr) -> bool:
    """Return whether a branch only keeps what it reads of a tensor, in a list or a sum, and its test leaves
    out NaN: `if not isnan(x): seen.append(x.item())`."""
    checks = table.names("torch", "nan-checks")
    checked = [
        n for n in ir.walk(test) if isinstance(n, ir.Call) and path_of(n.func).rpartition(".")[2] in checks
    ]
    named = {n.id for check in checked for n in ir.walk(check) if isinstance(n, ir.Name)}
    return bool(body) and all(_keeps(statement, named) for statement in body)


def _keeps(statement: ir.Stmt, named: set[str]) -> bool:
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(), args=args)) if args:
            kept: Sequence[ir.Expr] = [arg.value for arg in args]
        case ir.AugAssign(op="+" | "+=", value=ir.Const()):
            return True
        case ir.AugAssign(op="+" | "+=", value=value) | ir.Assign(targets=(ir.Subscript(),), value=value):
            kept = [value]
        case _:
            return False
    reads = [node for value in kept for node in ir.walk(value) if isinstance(node, ir.Call) and _reads(node)]
    return any(isinstance(node, ir.Name) and node.id in named for call in reads for node in ir.walk(call))


def _reads(call: ir.Call) -> bool:
    """Return whether a call gives the host's value of a tensor: `x.item()`, `float(x)`."""
    if isinstance(call.func, ir.Attribute):
        return bool(table.read_by("methods", call.func.attr))
    return path_of(call.func) == "float"


def check_of(test: ir.Expr) -> Consumer:
    """Return what a check asks for: whether a step still changes a number, `t + dt > t`, or anything else."""
    match test:
        case ir.Unary(operand=operand):
            return check_of(operand)
        case ir.Compare(left=left, comparators=(right,)):
            sides = ((left, right), (right, left))
            return "progress" if any(_adds_to(whole, part) for whole, part in sides) else "raise"
    return "raise"


def _adds_to(whole: ir.Expr, part: ir.Expr) -> bool:
    """Return whether an expression is another with something added or subtracted."""
    match whole:
        case ir.Binary(op="+" | "-", left=left, right=right):
            return path_of(part) != "" and path_of(part) in (path_of(left), path_of(right))
    return False


def loop_of(body: ir.Block) -> Consumer:
    """Return what the test of a `while` decides on: the episode of an environment, or when a loop ends."""
    calls = (node for node in _nodes(body) if isinstance(node, ir.Call))
    return "environment" if any(STEPS_ENVIRONMENT.search(path_of(call.func)) for call in calls) else "stop"


def ends_loop(body: ir.Block) -> bool:
    """Return whether a branch ends the loop around it."""
    return bool(body) and isinstance(body[-1], ir.Jump) and body[-1].kind == "break"


def leaves_out_update(statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether a branch goes on with the next iteration before the rest of this one updates the
    parameters: `if loss > limit: continue`."""
    match statement:
        case ir.If(body=[*_, ir.Jump(kind="continue")]):
            return any(_updates(node) for node in _nodes(rest))
    return False


def _states(block: ir.Block) -> list[bool] | None:
    """Return for each assignment of a block and of the branches in it whether it changes an attribute; None
    if it does anything but give constants to names and attributes."""
    found: list[bool] = []
    for statement in block:
        match statement:
            case ir.Assign(targets=(ir.Name() | ir.Attribute() as target,), value=ir.Const()):
                found.append(isinstance(target, ir.Attribute))
            case ir.AugAssign(target=ir.Name() | ir.Attribute() as target, value=ir.Const()):
                found.append(isinstance(target, ir.Attribute))
            case ir.If(body=body, orelse=orelse):
                inner = _states((*body, *orelse))
                if inner is None:
                    return None
                found += inner
            case ir.Jump(kind="pass"):
                pass
            case _:
                return None
    return found


def _returns_nothing(statement: ir.Stmt) -> bool:
    """Return whether a statement returns None or something empty."""
    match statement:
        case ir.Return(value=None | ir.Const(value=None)):
            return True
        case ir.Return(value=ir.Sequence(elements=elements)):
            return all(isinstance(one, ir.Const) and one.value is None for one in elements)
        case ir.Return(value=ir.Dict(keys=())):
            return True
    return False


def _nodes(body: Sequence[ir.Stmt]) -> list[ir.Node]:
    return [node for statement in body for node in ir.walk(statement)]


def _adds(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr in ("append", "extend")


def _changes_shape(statement: ir.Stmt, test: ir.Expr) -> bool:
    """Return whether a statement pads or lengthens a tensor, or takes rows by what the test asks for."""
    match statement:
        case ir.Assign(targets=(ir.Name(),), value=ir.Call(func=func)):
            name = func.attr if isinstance(func, ir.Attribute) else path_of(func)
            return name == "pad" or name in table.names("torch", "concat")
        case ir.Assign(value=ir.Subscript(index=(ir.Name(id=mask),))):
            return any(isinstance(node, ir.Name) and node.id == mask for node in ir.walk(test))
    return False


def _updates(node: ir.Node) -> bool:
    """Return whether a node is a backward pass, or a step without arguments, as an optimizer takes it."""
    match node:
        case ir.Call(func=ir.Attribute(attr=attr), args=args):
            return attr in _UPDATES and (attr == "backward" or not args)
    return False


def asks_for_any(test: ir.Expr) -> bool:
    """Return whether a test asks if a mask selects anything: `m.any()`, `m.sum() > 0`, `num_pos > 0`."""
    match test:
        case ir.Unary(operand=operand):
            return asks_for_any(operand)
        case ir.Bool(values=values):
            return any(map(asks_for_any, values))
        case ir.Compare(left=left, comparators=(ir.Const(value=0 | 1),)):
            return _is_count(left)
        case ir.Call():
            return _is_count(test)
    return False


def _is_count(node: ir.Expr) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr="item")):
            return _is_count(owner)
        case ir.Call(func=ir.Attribute(attr=attr)):
            return attr in _ANY
        case ir.Name(id=name):
            return _COUNTS.search(name) is not None
    return False
