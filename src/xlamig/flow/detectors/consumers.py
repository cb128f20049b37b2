"""Find the consumer of a value that the host reads: advice depends on it."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from xlamig import ir
from xlamig.facts import Consumer
from xlamig.flow.detectors import branch_uses
from xlamig.flow.detectors.branch_uses import LOGS, asks_for_any, branch_of, leaves_out_update
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

CONTAINERS = re.compile(
    r"(?:^|\.)(?:append\w*|extend|insert|put|setdefault)$|\w(?:list|results?|dict)\.(?:update|add)$"
)
"""The methods that put their arguments in a container, by path."""
_BY_CALLEE: tuple[tuple[Consumer, re.Pattern[str]], ...] = (
    ("log", LOGS),
    ("file", re.compile(
        r"(?:^|\.)(?:save\w*|dump|write\w*|imwrite|imsave|to_csv|to_file|tofile|export\w*)$"
    )),
    ("environment", branch_uses.STEPS_ENVIRONMENT),
    ("text", re.compile(r"(?:^|\.)\w*decode\w*$|(?:^|\.)convert_ids_to_tokens$")),
    ("container", CONTAINERS),
)  # fmt: skip
_OF_SIZES = re.compile(
    r"(?:^|\.)(?:arange|(?:new_)?(?:zeros|ones|empty|full)|rand|randn|randperm|eye|linspace"
    r"|view|reshape|expand|repeat|tile|topk|pad|split|unflatten)$"
)
_PASSES_ON = re.compile(rf"^(?:{'|'.join(dir(builtins))})$|^(?:torch|numpy|np|math)\.")
_FILLS = "fill_value"  # a parameter
_NO_SIZES = ("value", _FILLS, "dtype", "device")
_SIZE = re.compile(r"(?:^|_)(?:size|len|length)$")  # of a parameter
_ACTION = re.compile(r"^(?:act|actions?)$")  # what an environment's step is given
_FOLLOWED = 3  # variables, one computed from the other


@lru_cache(maxsize=1024)
def logs(path: str) -> bool:
    """Return whether a call of this path prints or logs its arguments."""
    return LOGS.search(path) is not None


class Use(NamedTuple):
    """The consumer of a value, and for an index or a slice's bound the name of what it indexes."""

    consumer: Consumer = ""
    indexed: str = ""


_NameOf = Callable[[ir.Expr], str]


def use_of(
    node: ir.Node,
    statement: ir.Stmt,
    rest: Sequence[ir.Stmt],
    name_of: _NameOf = path_of,
    followed: int = _FOLLOWED,
) -> Use:
    """Return what takes the value of `node` in a statement, or what takes the variable that it is put in by
    the statements after it; an empty use where that is not plain. `name_of` resolves callees. A check counts
    only where nothing else takes the variable."""
    found = _in_node(node, statement, name_of)
    if found.consumer == "branch" and leaves_out_update(statement, rest):
        return Use("update")
    target = variable_of(statement)
    if found.consumer:
        called = target is not None and found.consumer == "index" and _calls(rest, target)
        return Use("module", found.indexed) if called else found
    if target is None or _is_consumed(node, statement, name_of):
        if target is not None and _ACTION.search(target):
            return Use("environment")
        return Use("loss") if _goes_backward(statement, rest) else _kept(statement)
    check = Use()
    for i, later in enumerate(rest):
        if target not in names_in(later):
            continue
        uses = (n for n in ir.walk(later) if isinstance(n, ir.Name) and n.id == target)
        read = [use for use in uses if not is_assigned(use, later)]
        name = next((use for use in read if not _is_asked_for_form(use, later)), None)
        if name is None:
            if read:
                continue
            return check
        use = (
            use_of(name, ir.statement_of(name, later), rest[i + 1 :], name_of, followed - 1)
            if followed
            else Use()
        )
        if use.consumer not in ("raise", "progress"):
            return use
        check = use
    return check


def _is_asked_for_form(name: ir.Name, statement: ir.Stmt) -> bool:
    """Return whether a value is only asked for its type or shape: `isinstance(v, float)`, `v.shape[0]`."""
    match [*ir.path_down(statement, name)]:
        case [*_, ir.Call(func=ir.Name(id="isinstance" | "type" | "callable" | "hasattr" | "len")), ir.Arg()]:
            return True
        case [*_, ir.Attribute(attr="shape" | "size" | "ndim" | "dtype")]:
            return True
    return False


def _goes_backward(statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether a later statement starts the backward pass of what a statement assigns."""
    if not isinstance(statement, ir.Assign):
        return False
    made = {node.id for target in statement.targets for node in ir.walk(target) if isinstance(node, ir.Name)}
    for later in rest:
        match later:
            case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=ir.Name(id=owner), attr="backward"))):
                if owner in made:
                    return True
    return False


def is_compared(node: ir.Node, statement: ir.Stmt) -> bool:
    """Return whether Python's `min` or `max` takes the value of `node`: `min(1, 2 * math.sqrt(x))`."""
    calls = [above for above in ir.path_down(statement, node) if isinstance(above, ir.Call)]
    return bool(calls) and isinstance(calls[-1].func, ir.Name) and calls[-1].func.id in ("min", "max")


def goes_to_host(
    node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt], followed: int = _FOLLOWED
) -> bool:
    """Return whether the value of `node`, and of the variable that a statement puts it in, is only copied to
    the host: `mask.nonzero().cpu()`."""
    copied = any(
        isinstance(above, ir.Call) and ir.encloses(above.func, node) and copies(above)
        for above in ir.path_down(statement, node)
    )
    target = variable_of(statement)
    if copied or target is None or not followed:
        return copied
    uses = [*uses_of_name(target, rest)]
    return bool(uses) and all(goes_to_host(name, inner, (), followed - 1) for name, inner, _ in uses)


def copies(call: ir.Call) -> bool:
    """Return whether a call of a method copies its tensor to the host."""
    match call:
        case ir.Call(func=ir.Attribute(attr="to"), args=(ir.Arg(value=ir.Const(value="cpu")), *_)):
            return True
        case ir.Call(func=ir.Attribute(attr=attr)):
            return table.read_by("methods", attr) in ("copy", "item")
    return False


def variable_of(statement: ir.Stmt) -> str | None:
    """Return the variable that a statement puts its value in."""
    match statement:
        case ir.Assign(targets=(ir.Name(id=name),)) | ir.AnnAssign(target=ir.Name(id=name)):
            return name
    return None


def _is_consumed(node: ir.Node, statement: ir.Stmt, name_of: _NameOf) -> bool:
    """Return whether a function makes something else of the value of `node`: `f(x, n)`, not `round(n)`."""
    calls = (above for above in ir.path_down(statement, node) if isinstance(above, ir.Call))
    takers = (call.func for call in calls if not ir.encloses(call.func, node))
    made = (func for func in takers if not (isinstance(func, ir.Attribute) and func.attr == "format"))
    return any(not _PASSES_ON.search(name_of(func) or path_of(func)) for func in made)


def is_assigned(name: ir.Expr, statement: ir.Node) -> bool:
    """Return whether a name or an attribute is what a statement assigns to."""
    return isinstance(statement, ir.Assign) and any(target is name for target in statement.targets)


def _kept(statement: ir.Stmt) -> Use:
    """Return the use of what a statement adds to a list, or puts under a key."""
    match statement:
        case ir.AugAssign(value=ir.Sequence(kind="list")) | ir.Assign(targets=(ir.Subscript(),)):
            return Use("container")
    return Use()


def _calls(rest: Sequence[ir.Stmt], name: str) -> bool:
    """Return whether a variable is called."""
    nodes = (node for later in rest for node in ir.walk(later))
    return any(isinstance(node, ir.Call) and path_of(node.func) == name for node in nodes)


def _in_node(node: ir.Node, top: ir.Node, name_of: _NameOf) -> Use:
    """Return what takes the value of `node` below `top`."""
    bound = False
    path = list(ir.path_down(top, node))
    for place in range(len(path) - 1, -1, -1):
        above = path[place]
        match above:
            case ir.Call() if not ir.encloses(above.func, node):
                if (use := _in_call(above, node, name_of)).consumer:
                    return use
            case ir.Comprehension():
                if (use := _in_comprehension(above, node, name_of)).consumer:
                    return use
            case ir.Binary(op="%", left=left) if ir.encloses(left, node):
                return Use("remainder")
            case ir.Slice():
                bound = True
            case ir.Subscript(value=value, index=index) if any(ir.encloses(part, node) for part in index):
                user = path[place - 1] if place else None
                if isinstance(user, ir.Call) and user.func is above:
                    return Use("module", path_of(value))
                if isinstance(value, ir.Sequence | ir.Dict) and not bound:
                    return Use("choice")
                return Use("slice" if bound else "index", path_of(value))
            case ir.Assert(test=test) if ir.encloses(test, node):
                return Use(branch_uses.check_of(test))
            case ir.Raise() | ir.Assert():
                return Use("raise")
            case ir.If(test=test, body=body, orelse=orelse) if ir.encloses(test, node):
                return Use("stop" if branch_uses.ends_loop(orelse) else branch_of(body, test, orelse))
            case ir.IfExp(test=test) if ir.encloses(test, node):
                return Use("any" if asks_for_any(test) else "branch")
            case ir.While(test=test, body=body) if ir.encloses(test, node):
                return Use(branch_uses.loop_of(body))
            case ir.Return():
                return Use("return")
    return Use()


def _in_call(call: ir.Call, node: ir.Node, name_of: _NameOf) -> Use:
    """Return what a call does with an argument."""
    func = call.func
    if taker := table.consumer(name_of(func)):
        return Use(cast(Consumer, taker))
    path = path_of(func) or (func.attr if isinstance(func, ir.Attribute) else "")
    for consumer, pattern in _BY_CALLEE:
        if pattern.search(path):
            return Use(consumer)
    if path == "range":
        return Use("iterations")
    if _fills(call, name_of(func) or f"Tensor.{path.rpartition('.')[2]}", node):
        return Use("fill")
    if path.rpartition(".")[2] == "roll" and not name_of(func).startswith("numpy."):
        return Use("shift")
    return Use("size") if _is_size(call, path, node) else Use()


def _in_comprehension(made: ir.Comprehension, node: ir.Node, name_of: _NameOf) -> Use:
    """Return what takes the elements of what a comprehension goes through."""
    for part in made.generators:
        if not ir.encloses(part.iter, node):
            continue
        target = part.target
        match part.iter, target:
            case ir.Call(func=ir.Name(id="enumerate")), ir.Sequence(elements=(_, element)):
                target = element
        targets = {name.id for name in ir.walk(target) if isinstance(name, ir.Name)}
        for name in ir.walk(made.element):
            if isinstance(name, ir.Name) and name.id in targets:
                use = _in_node(name, made.element, name_of)
                if use.consumer:
                    return use
    return Use()


def _fills(call: ir.Call, name: str, node: ir.Node) -> bool:
    """Return whether the argument that holds the node is what a call fills a tensor with."""
    names = known.positional if (known := signatures.signature(name)) is not None else ()
    named = ((arg.keyword or "".join(names[i : i + 1]), arg) for i, arg in enumerate(call.args))
    return any(parameter == _FILLS and ir.encloses(arg, node) for parameter, arg in named)


def _is_size(call: ir.Call, path: str, node: ir.Node) -> bool:
    """Return whether the argument that holds the node is a size, by its keyword or by what is called."""
    keyword = next(arg.keyword or "" for arg in call.args if ir.encloses(arg, node))
    sizes = _OF_SIZES.search(path) is not None and keyword not in _NO_SIZES
    return sizes or _SIZE.search(keyword) is not None


@lru_cache(1000)
def names_in(statement: ir.Stmt) -> frozenset[str]:
    """Return the names in a statement, which is asked for each read before it."""
    return frozenset(node.id for node in ir.walk(statement) if isinstance(node, ir.Name))


def uses_of_name(name: str, block: Sequence[ir.Stmt]) -> Iterator[tuple[ir.Name, ir.Stmt, Sequence[ir.Stmt]]]:
    """Yield where statements mention a name, each time with the innermost statement around it and what
    follows in the block."""
    for i, later in enumerate(block):
        for use in ir.walk(later) if name in names_in(later) else ():
            if isinstance(use, ir.Name) and use.id == name:
                yield use, ir.statement_of(use, later), block[i + 1 :]
