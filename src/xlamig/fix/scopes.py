"""Questions about names and places of an IR module that a fix has to ask before it writes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import cast

from xlamig import ir
from xlamig.fix.context import FixContext
from xlamig.fix.passed import passed_for
from xlamig.knowledge import helpers
from xlamig.per_file import per_file

Function = ir.FunctionDef | ir.Lambda


def path_to(module: ir.Module, start: int, end: int) -> list[ir.Node]:
    """The nodes around a span, outermost first; the last one may be the span itself."""
    path: list[ir.Node] = []
    node: ir.Node | None = module
    while node is not None:
        path.append(node)
        node = _child_around(node, start, end)
    return path


_LONG = 16  # statements of a body that are worth a binary search


def _child_around(node: ir.Node, start: int, end: int) -> ir.Node | None:
    body = getattr(node, "body", None)
    if isinstance(body, tuple) and len(body) > _LONG:
        at = bisect_right(body, start, key=_first_offset) - 1
        if at >= 0 and _encloses(body[at], start, end):
            return cast("ir.Node", body[at])
        if isinstance(node, ir.Module):
            return None
    return next((c for c in ir.children(node) if _encloses(c, start, end)), None)


def _first_offset(node: ir.Node) -> int:
    """Where a statement starts with its decorators, which stand before its own span."""
    if isinstance(node, ir.FunctionDef | ir.ClassDef) and node.decorators:
        return min(node.start, node.decorators[0].start)
    return node.start


def _encloses(node: ir.Node, start: int, end: int) -> bool:
    first = _first_offset(node)
    return first <= start and end <= node.end and node.end > first


def statement_at(module: ir.Module, span: tuple[int, int]) -> ir.Stmt | None:
    """The innermost statement around a span."""
    return next((n for n in reversed(path_to(module, *span)) if isinstance(n, ir.Stmt)), None)


def function_around(path: Sequence[ir.Node]) -> ir.Node:
    """Return the innermost function of the nodes around a place; the module where there is none."""
    return next((n for n in reversed(path) if isinstance(n, Function)), path[0])


def subscript_at(module: ir.Module, span: tuple[int, int]) -> tuple[ir.Subscript, ir.Node] | None:
    """The innermost subscript around a span, and the node that holds it."""
    path = path_to(module, *span)
    for parent, node in zip(reversed(path[:-1]), reversed(path), strict=False):
        if isinstance(node, ir.Subscript):
            return node, parent
    return None


def block_of(module: ir.Module, statement: ir.Stmt) -> ir.Block | None:
    """The list of statements that holds `statement`."""
    around = reversed(path_to(module, statement.start, statement.end))
    held = (block for node in around for block in ir.blocks_of(node))
    return next((block for block in held if position_in(block, statement) is not None), None)


def position_in(block: ir.Block, statement: ir.Stmt) -> int | None:
    """Return the position of a statement in a block; None where the block does not hold it."""
    at = bisect_left(block, statement.start, key=attrgetter("start"))
    return at if at < len(block) and block[at] is statement else None


def below_in(block: ir.Block, statement: ir.Stmt) -> ir.Block | None:
    """The statements of a block that follow `statement`; None where the block does not hold it."""
    at = position_in(block, statement)
    return None if at is None else block[at + 1 :]


def runs_at_import(module: ir.Module, start: int, end: int) -> bool:
    """The place is evaluated when the module is imported, not when a function is called."""
    path = path_to(module, start, end)
    return not any(isinstance(n, Function) and _in_body(n, start) for n in path)


def at_module_level(module: ir.Module, start: int, end: int) -> bool:
    """Directly in the module: not in a function, a class body, a default or a decorator."""
    return not any(isinstance(n, Function | ir.ClassDef) for n in path_to(module, start, end))


def _in_body(function: Function, start: int) -> bool:
    body = function.body
    first = body[0].start if isinstance(body, tuple) else body.start
    return start >= first


def bindings(root: ir.Node, name: str) -> list[ir.Node]:
    """Every node below `root`, in any scope, that gives `name` a value or declares it."""
    return all_bindings(root).get(name, [])


@per_file
@lru_cache(maxsize=8)  # the fixes of one file ask again and again about the same few nodes
def all_bindings(root: ir.Node) -> dict[str, list[ir.Node]]:
    """Return the nodes that bind or declare each name below `root`."""
    found: dict[str, list[ir.Node]] = {}
    for node in ir.walk(root):
        for name in dict.fromkeys(_bound_by(node)):
            found.setdefault(name, []).append(node)
    return found


def _bound_by(node: ir.Node) -> tuple[str, ...]:
    match node:
        case ir.Assign():
            return tuple(n.id for target in node.targets for n in ir.target_names(target))
        case ir.AugAssign() | ir.AnnAssign() | ir.For() | ir.Generator() | ir.Walrus():
            return tuple(n.id for n in ir.target_names(node.target))
        case ir.WithItem(target=ir.Expr() as target):
            return tuple(n.id for n in ir.target_names(target))
        case ir.Delete():
            return tuple(n.id for target in node.targets for n in ir.target_names(target))
        case ir.FunctionDef() | ir.ClassDef() | ir.Param():
            return (node.name,)
        case ir.Handler(name=str() as bound):
            return (bound,)
        case ir.Case():
            return node.captures
        case ir.Scoping():
            return node.names
        case ir.Alias():
            return (node.asname or node.name.partition(".")[0],)
    return ()


def reads(root: ir.Node, name: str) -> list[ir.Name]:
    """Every use of `name` as a plain expression, binding positions included."""
    return _names_in(root).get(name, [])


@per_file
@lru_cache(maxsize=8)
def _names_in(root: ir.Node) -> dict[str, list[ir.Name]]:
    found: dict[str, list[ir.Name]] = {}
    for node in ir.walk(root):
        if isinstance(node, ir.Name):
            found.setdefault(node.id, []).append(node)
    return found


def only_value(owner: ir.Node, name: str) -> ir.Expr | None:
    """Return what the only binding of a name in a function assigns to it alone."""
    match bindings(owner, name):
        case [ir.Assign(targets=(ir.Name(),), value=value)]:
            return value
    return None


def sole_use(owner: ir.Node, target: ir.Name) -> ir.Name | None:
    """Return the only use in a function of a name that nothing but `target` binds there."""
    uses = [use for use in reads(owner, target.id) if use is not target]
    return uses[0] if len(uses) == 1 and len(bindings(owner, target.id)) == 1 else None


def only_read(module: ir.Module, node: ir.Expr, depth: int = 3) -> bool:
    """Nothing is seen to change what the expression gives in place, or to hand it on to code that may:
    it is an operand, an argument, or has a name of which that holds wherever it is used."""
    path = path_to(module, node.start, node.end)
    at = next((i for i in reversed(range(len(path))) if path[i] is node), 0)
    parent = path[at - 1] if at else None
    match parent:
        case ir.Binary() | ir.Compare() | ir.Unary() | ir.Bool() | ir.Arg():
            return True
        case ir.Attribute(attr=attr) if attr.endswith("_") or attr in ("data", "grad"):
            return False
        case ir.Attribute():
            call = path[at - 2] if at > 1 else None
            called = isinstance(call, ir.Call) and call.func is parent
            return only_read(module, call if isinstance(call, ir.Call) and called else parent, depth)
        case ir.Subscript(value=value) if value is node:
            return only_read(module, parent, depth)
        case ir.Assign(targets=(ir.Name(id=name) as target,), value=value) if value is node and depth:
            owner = function_around(path)
            uses = [use for use in reads(owner, name) if use is not target]
            return len(bindings(owner, name)) == 1 and all(only_read(module, u, depth - 1) for u in uses)
    return False


def holds_a_device(module: ir.Module, name: str, place: tuple[int, int], known: bool = False) -> bool:
    """No assignment, default or call in the file makes `name` ("device", "self.device") the CPU or None, and
    the place does not ask about it, as `device or "cuda"` does. `known`: each makes a torch.device."""
    path = path_to(module, *place)
    for node in path:
        match node:
            case ir.If() | ir.IfExp() | ir.While() if _mentions(node.test, name):
                return False
            case ir.Bool() if _mentions(node, name):
                return False
            case ir.Assign() if any(dotted_name(target) == name for target in node.targets):
                return False
    functions = [node for node in path if isinstance(node, ir.FunctionDef) and bindings(node, name)]
    owner = functions[-1] if functions else module
    values = list(_values(owner, name))
    if known and not (values and all(map(_makes_a_device, values))):
        return False
    return not any(map(_is_no_accelerator, (*values, *passed_for(module, path, name))))


def _mentions(root: ir.Node, name: str) -> bool:
    return any(dotted_name(node) == name for node in ir.walk(root))


def dotted_name(node: ir.Node) -> str:
    """ "a.b" for a name and its attributes; "" for other expressions."""
    if isinstance(node, ir.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ir.Name) else ""


def _values(owner: ir.Node, name: str) -> Iterator[ir.Expr]:
    for node in ir.walk(owner):
        match node:
            case ir.Param(name=bound, default=ir.Expr() as value) if bound == name:
                yield value
            case ir.Assign(value=value) if any(dotted_name(target) == name for target in node.targets):
                yield value
            case ir.AnnAssign(target=target, value=ir.Expr() as value) if dotted_name(target) == name:
                yield value


def _makes_a_device(value: ir.Expr) -> bool:
    """A call of `torch.device`, `torch_xla.device` or the helper's function."""
    func = value.func if isinstance(value, ir.Call) else None
    name = func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")
    return name in ("device", helpers.DEVICE)


def _is_no_accelerator(value: ir.Expr) -> bool:
    match value:
        case ir.Const(value=constant):
            return constant is None or (isinstance(constant, str) and constant.startswith("cpu"))
        case ir.Call(func=ir.Attribute(attr="device") | ir.Name(id="device"), args=(first, *_)):
            return _is_no_accelerator(first.value)
    return False


def describe(context: FixContext, span: tuple[int, int]) -> str:
    """Return a description of the code at `span` for people: "`opt.gpu`, an argument"."""
    text = " ".join(context.text(span).split())
    name = re.match(r"[A-Za-z_]\w*", text)
    path = path_to(context.module, *span)
    owners = [node for node in reversed(path) if isinstance(node, Function)]
    found = next((b for o in (*owners, context.module) if name and (b := bindings(o, name[0]))), [])
    if any(isinstance(node, ir.Param) or _parses_arguments(node) for node in found):
        return f"`{text}`, an argument"
    return f"`{text}`"


def _parses_arguments(node: ir.Node) -> bool:
    func = node.value.func if isinstance(node, ir.Assign) and isinstance(node.value, ir.Call) else None
    return isinstance(func, ir.Attribute) and func.attr.startswith("parse_")
