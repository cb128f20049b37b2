"""Objects of one class that hold different things: a meter that only gets numbers beside one of tensors.

What methods assign is kept for all objects of a class together. A name that a function binds to one object
and uses for nothing but its attributes tells which calls that object got.
"""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import NUMBER, AbstractValue
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import Scope, path_of

_PLAIN_KINDS = frozenset({"number", "bool", "text", "none"})
_PLAIN_CALLS = frozenset({"float", "int", "len", "max", "min", "round", "sum", "abs"})
_SHOWS = frozenset({"print", "format", "str", "info", "write"})


def note_given(state: State, owner: AbstractValue, node: ir.Attribute, args: Args) -> None:
    """Note that a method of an object got something that may be a tensor."""
    path = path_of(node.value)
    if isinstance(owner.ref, ClassInfo) and any(thing.kind not in _PLAIN_KINDS for thing in args.all):
        owner.ref.given.add((id(state.frame.scope), path))


def of_object(state: State, info: ClassInfo, name: str, node: ir.Expr, held: AbstractValue) -> AbstractValue:
    """Return what an attribute of one object holds, by what it holds in any of its class: a number instead of
    a tensor where what methods get decides it, and this object's methods got numbers alone."""
    if held.kind != "tensor" or not info.given or not isinstance(node, ir.Attribute):
        return held
    key = (id(state.frame.scope), path_of(node.value))
    if key in info.given or not isinstance(node.value, ir.Name):
        return held
    if key not in info.alone:
        info.alone[key] = _is_alone(state.frame.scope, node.value.id)
    apart = info.alone[key] and _is_plain_attribute(info, name, frozenset())
    return NUMBER if apart else held


def _is_alone(scope: Scope, name: str) -> bool:
    """Return whether a name is bound once, to a call, and used for its attributes and to show it alone."""
    bound = scope.bindings.get(name, [])
    if len(bound) != 1 or not isinstance(bound[0].value, ir.Call) or scope.node is None:
        return False
    known = {bound[0].start}
    every = set()
    for node in ir.walk(scope.node):
        match node:
            case ir.Name(id=used) if used == name:
                every.add(node.start)
            case ir.Attribute(value=ir.Name(id=used)) if used == name:
                known.add(node.value.start)
            case ir.FString(parts=parts):
                known |= {part.start for part in parts if isinstance(part, ir.Name)}
            case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _SHOWS or (
                isinstance(func, ir.Attribute) and func.attr in _SHOWS
            ):
                known |= {arg.value.start for arg in args}
    return every <= known


def _is_plain_attribute(info: ClassInfo, name: str, seen: frozenset[str]) -> bool:
    """Return whether all that methods assign to an attribute comes from their arguments, or is a number."""
    if name in seen:
        return True
    found = [
        (method, value)
        for cls in info.lineage()
        for method in cls.methods.values()
        for value in (_returned(method) if method.name == name else _assigned(method, name))
    ]
    return bool(found) and all(_is_plain(value, method, info, seen | {name}) for method, value in found)


def _returned(method: ir.FunctionDef) -> Iterator[ir.Expr | None]:
    yield from (node.value for node in ir.walk(method) if isinstance(node, ir.Return))


def _assigned(method: ir.FunctionDef, name: str) -> Iterator[ir.Expr | None]:
    for node in ir.walk(method):
        match node:
            case ir.Assign(targets=targets, value=value):
                paths = [
                    path_of(part)
                    for target in targets
                    for part in ir.walk(target)
                    if isinstance(part, ir.Expr)
                ]
                if f"self.{name}" in paths:
                    yield value
            case ir.AugAssign(target=target, value=value) if path_of(target) == f"self.{name}":
                yield value
            case ir.AnnAssign(target=target, value=value) if path_of(target) == f"self.{name}":
                yield value


def _is_plain(value: ir.Expr | None, method: ir.FunctionDef, info: ClassInfo, seen: frozenset[str]) -> bool:
    match value:
        case None | ir.Const():
            return True
        case ir.Name(id=name):
            return method.name != "__init__" and any(param.name == name for param in method.params)
        case ir.Attribute(value=ir.Name(id="self"), attr=attr):
            return _is_plain_attribute(info, attr, seen)
        case ir.Call(func=ir.Name(id=name), args=args):
            return name in _PLAIN_CALLS and all(_is_plain(arg.value, method, info, seen) for arg in args)
        case ir.Binary() | ir.Unary() | ir.IfExp() | ir.Compare() | ir.Sequence():
            parts = [part for part in ir.children(value) if isinstance(part, ir.Expr)]
            return all(_is_plain(part, method, info, seen) for part in parts)
    return False
