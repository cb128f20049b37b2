"""Numbers that are read from tensors: Python numbers that a constructor put there, and the greatest of some
lengths. Advice depends on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.domain import OF_NUMBERS, AbstractValue, Cause
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

CAUSES = {
    "step-counter": "is different every step",
    "position": "is a different number every iteration",
    "random": "is random",
    "read": "was read from a tensor",
    "derived": "is the size of a tensor whose shape depends on values",
    "length": "comes from the length of something that grows",
    "batch": "differs from sample to sample",
}
"""Why a number differs between steps, by its cause."""
_DEPTH = 3  # names that stand for one another
READS = frozenset({"item", "tolist", "cpu", "numpy", "int", "long", "float", "double", "detach", "clone"})
_NUMBERS = frozenset({"int", "float", "bool"})
_LENGTHS = re.compile(rf"{table.name_like('lengths').pattern}|(?:^|_)(?:len|length)$")
_GREATEST = frozenset({"max", "torch.max", "torch.amax"})


def cause_of_read(m: State, node: ir.Node | None, thing: AbstractValue, sure: int) -> Cause:
    """Return why a number that is read from a tensor differs between steps, "" where it does not."""
    if not sure or thing.const is OF_NUMBERS:
        return ""
    return "" if node is not None and kept_number(m, node) else "read"


# ---------------------------------------------------------------------- numbers of a constructor


def kept_number(m: State, node: ir.Node) -> str:
    """Return the source text of the Python number that `__init__` puts into a tensor of the object, of which
    an expression reads it, if no method writes there: `K` of `self.params[0].item()`, or `self.K` where an
    attribute has the same number; "" for anything else."""
    tensor, index = _element(_source(m, node, once=True))
    if not isinstance(tensor, ir.Attribute) or path_of(tensor) != f"self.{tensor.attr}":
        return ""
    around = m.frame.scope.class_scope
    cls = around.node if around is not None else None
    if not isinstance(cls, ir.ClassDef):
        return ""
    inits = [one for one in cls.body if isinstance(one, ir.FunctionDef) and one.name == "__init__"]
    number = _number_of(m, inits[0], tensor.attr, index) if len(inits) == 1 else None
    if number is None or _is_written(m.analysis.module, inits[0], tensor.attr, index):
        return ""
    text = m.source(number)
    return next((path_of(target) for target, value in _assigned(inits[0]) if m.source(value) == text), text)


def _element(node: ir.Node) -> tuple[ir.Node, object]:
    """Return the tensor and the constant index of an element, None for a whole tensor."""
    match node:
        case ir.Subscript(value=tensor, index=(ir.Const(value=index),)):
            return tensor, index
    return node, None


def _number_of(m: State, init: ir.FunctionDef, attribute: str, index: object) -> ir.Expr | None:
    """Return the number in the tensor that a constructor assigns to an attribute, the only one."""
    values = [value for target, value in _assigned(init) if path_of(target) == f"self.{attribute}"]
    for node in ir.walk(init):
        match node:
            case ir.Call(
                func=ir.Attribute(attr="register_buffer"),
                args=(ir.Arg(value=ir.Const(value=name)), ir.Arg(value=value), *_),
            ) if name == attribute:
                values.append(value)
    data = _data(m, values[0]) if len(values) == 1 else None
    if isinstance(data, ir.Sequence):
        if index is None and len(data.elements) == 1:
            index = 0
        if isinstance(index, bool) or not isinstance(index, int) or not -1 <= index < len(data.elements):
            return None
        data = data.elements[index]
    elif index is not None:
        return None
    return data if data is not None and _is_number(data) else None


def _data(m: State, made: ir.Expr) -> ir.Expr | None:
    """Return what a tensor is made of: `n` of `torch.tensor(n).long()`."""
    match made:
        case ir.Call(func=ir.Attribute(value=ir.Call() as owner)):
            return _data(m, owner)
        case ir.Call(func=func, args=(ir.Arg(value=data, keyword=None, star=""), *_)):
            module, _, name = (m.names.dotted(func, m.frame.scope) or "").rpartition(".")
            return data if module == "torch" and name in table.names("sizes", "from-lists") else None
    return None


def _is_number(node: ir.Expr) -> bool:
    """Return whether an expression is made of names and numbers alone; a number that is written out is a
    start, which a checkpoint or a schedule replaces."""
    return not isinstance(node, ir.Const) and all(
        isinstance(part, ir.Const | ir.Name | ir.Attribute | ir.Binary) for part in ir.walk(node)
    )


def _assigned(init: ir.FunctionDef) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield the attributes of `self` that a constructor assigns to, and their values."""
    for node in ir.walk(init):
        if isinstance(node, ir.Assign):
            yield from (
                (target, node.value) for target in node.targets if path_of(target).startswith("self.")
            )


def _is_written(module: ir.Module, init: ir.FunctionDef, attribute: str, index: object) -> bool:
    """Return whether anything but a constructor may write to an element of an attribute of this name."""
    for node in _walk_without(module, init):
        match node:
            case ir.Assign(targets=targets) if any(_is_at(part, attribute, index) for part in targets):
                return True
            case ir.AugAssign(target=target) | ir.AnnAssign(target=target):
                if _is_at(target, attribute, index):
                    return True
            case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name.endswith("_"):
                if _is_at(owner, attribute, index):
                    return True
            case ir.ExprStmt(value=ir.Call(args=args)) if any(
                _is_at(arg.value, attribute, index) for arg in args
            ):
                return True
    return False


def _walk_without(top: ir.Node, left_out: ir.Node) -> Iterator[ir.Node]:
    stack = [top]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for child in ir.children(node) if child is not left_out)


def _is_at(target: ir.Expr, attribute: str, index: object) -> bool:
    """Return whether something is an attribute of this name, or what may be its element at an index."""
    if isinstance(target, ir.Sequence):
        return any(_is_at(part, attribute, index) for part in target.elements)
    while isinstance(target, ir.Subscript):
        other = target.index[0]
        if len(target.index) == 1 and isinstance(other, ir.Const) and other.value != index:
            return False
        target = target.value
    return isinstance(target, ir.Attribute) and target.attr == attribute


# ---------------------------------------------------------------------- lengths


def longest_of_lengths(m: State, node: ir.Node) -> str:
    """Return the source text of the greatest of some lengths that an expression gives or adds something to:
    `lengths.max()`, also of the lengths that a mask counts, `mask.sum(1).max()`; "" for anything else."""
    match _source(m, node):
        case ir.Binary(op="+" | "-", left=left, right=right):
            return longest_of_lengths(m, left) or longest_of_lengths(m, right)
        case ir.Call(func=ir.Attribute(value=given, attr="max" | "amax"), args=()) as greatest:
            return short(m.source(greatest)) if _are_lengths(given) else ""
        case ir.Call(func=func, args=(ir.Arg(value=given, star=""),)) as greatest:
            return short(m.source(greatest)) if path_of(func) in _GREATEST and _are_lengths(given) else ""
    return ""


def _are_lengths(node: ir.Expr) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr="sum"), args=(_,)):
            return table.name_like("mask").search(last_name(owner)) is not None
        case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name in READS:
            return _are_lengths(owner)
    return _LENGTHS.search(last_name(node)) is not None


def last_name(node: ir.Expr) -> str:
    """Return the last name of a path, or the key of an entry: `lengths` of `batch["lengths"]`."""
    match node:
        case ir.Subscript(index=(ir.Const(value=str(key)),)):
            return key
    return path_of(node).rpartition(".")[2]


def _source(m: State, node: ir.Node, once: bool = False, depth: int = _DEPTH) -> ir.Node:
    """Return the expression whose value another one only reads, `x` of `int(x.item())`, also where the last
    assignment to a name above gives it, `once` the only one."""
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name in READS:
            return _source(m, owner, once, depth)
        case ir.Call(func=ir.Name(id=name), args=(ir.Arg(value=inner, keyword=None, star=""),)) if (
            name in _NUMBERS
        ):
            return _source(m, inner, once, depth)
        case ir.Name(id=name) if depth:
            bound = m.frame.scope.bindings.get(name, [])
            above = [binding for binding in bound if binding.end <= node.start]
            value = above[-1].value if above and (len(bound) == 1 or not once) else None
            if value is not None and above[-1].kind == "value":
                return _source(m, value, once, depth - 1)
    return node
