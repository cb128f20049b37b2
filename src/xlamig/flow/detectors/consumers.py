"""Find the consumer of a value that the host reads: advice depends on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import Consumer
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.scopes import path_of

_BY_CALLEE: tuple[tuple[Consumer, re.Pattern[str]], ...] = (
    ("log", re.compile(
        r"^print$|(?:^|\.)(?:log\w*|debug|info|warning|add_(?:scalar|image|histogram|text)s?|set_postfix\w*"
        r"|set_description\w*|write_(?:scalar|image)s?|plot|imshow)$|(?:^|\.)(?:wandb|writer|logger)\."
    )),
    ("file", re.compile(
        r"(?:^|\.)(?:save\w*|dump|write\w*|imwrite|imsave|to_csv|to_file|tofile|export\w*)$"
    )),
    ("environment", re.compile(r"(?:^|\.|_)envs?\.(?:step|reset)$|(?:^|\.)(?:env_step|step_env)$")),
    ("text", re.compile(r"(?:^|\.)\w*decode\w*$|(?:^|\.)convert_ids_to_tokens$")),
    ("container", re.compile(
        r"(?:^|\.)(?:append\w*|extend|insert|put|setdefault)$|\w(?:list|results?|dict)\.(?:update|add)$"
    )),
)  # fmt: skip
_OF_SIZES = re.compile(
    r"(?:^|\.)(?:arange|(?:new_)?(?:zeros|ones|empty)|rand|randn|view|reshape|expand|repeat|tile|topk|pad)$"
)
_NO_SIZES = ("value", "fill_value", "dtype", "device")


def logs(path: str) -> bool:
    """Return whether a call of this path prints or logs its arguments."""
    return _BY_CALLEE[0][1].search(path) is not None


class Use(NamedTuple):
    """The consumer of a value, and for an index or a slice's bound the name of what it indexes."""

    consumer: Consumer = ""
    indexed: str = ""


def use_of(node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> Use:
    """Return what takes the value of `node` in a statement, or what takes the variable that it is put in by
    the statements after it; an empty use where that is not plain."""
    found = _in_statement(node, statement)
    if found.consumer or not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return found
    target = statement.targets[0]
    if not isinstance(target, ir.Name):
        return Use("container") if isinstance(target, ir.Subscript) else Use()
    for later in rest:
        for use in ir.walk(later):
            if isinstance(use, ir.Name) and use.id == target.id:
                return _in_statement(use, later)
    return Use()


def _in_statement(node: ir.Node, statement: ir.Stmt) -> Use:
    bound = False
    for above in reversed(list(_path(statement, node))):
        match above:
            case ir.Call(func=func) if not ir.encloses(func, node):
                path = path_of(func) or (func.attr if isinstance(func, ir.Attribute) else "")
                for consumer, pattern in _BY_CALLEE:
                    if pattern.search(path):
                        return Use(consumer)
                if _OF_SIZES.search(path) and _is_size(above, node):
                    return Use("size")
            case ir.Binary(op="%", left=left) if ir.encloses(left, node):
                return Use("remainder")
            case ir.Slice():
                bound = True
            case ir.Subscript(value=value, index=index) if any(ir.encloses(part, node) for part in index):
                return Use("slice" if bound else "index", path_of(value))
            case ir.Raise() | ir.Assert():
                return Use("raise")
            case ir.If(test=test, body=body) if ir.encloses(test, node):
                return Use(_branch(body))
            case ir.IfExp(test=test) if ir.encloses(test, node):
                return Use("branch")
            case ir.While(test=test) if ir.encloses(test, node):
                return Use("stop")
            case ir.Return():
                return Use("return")
    return Use()


def _is_size(call: ir.Call, node: ir.Node) -> bool:
    """Return whether the argument that holds the node is a size: all are, but for a few keywords."""
    return any(ir.encloses(arg, node) and arg.keyword not in _NO_SIZES for arg in call.args)


def _branch(body: ir.Block) -> Consumer:
    """Return what a test decides on: whether something is raised or logged, a loop ends, or what is
    computed."""
    if ends_program(body):
        return "raise"
    if body and isinstance(body[-1], ir.Jump) and body[-1].kind == "break":
        return "stop"
    match body:
        case [ir.ExprStmt(value=ir.Call(func=func))] if _BY_CALLEE[0][1].search(path_of(func)):
            return "log"
    return "branch"


def _path(top: ir.Node, node: ir.Node) -> Iterator[ir.Node]:
    """Yield the nodes from `top` down to the parent of `node`; a block of a compound statement is not
    entered."""
    current: ir.Node | None = top
    while current is not None and current is not node:
        yield current
        current = next((child for child in ir.children(current) if ir.encloses(child, node)), None)
