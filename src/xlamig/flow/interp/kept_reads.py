"""Reads of what an object keeps: they leave what the program computes to be computed."""

from __future__ import annotations

from collections.abc import Mapping, Set

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of

_DEPTH = 3  # names that stand for one another


def is_kept(m: State, node: ir.Node, depth: int = 0) -> bool:
    """Return whether an expression is an attribute of `self`, or an element of one, that no method of the
    class but `__init__` writes: `self.alphas[index]`."""
    while isinstance(node, ir.Subscript):
        node = node.value
    match node:
        case ir.Attribute(attr=attr) if path_of(node).startswith("self."):
            return not _is_written(m, attr)
        case ir.IfExp(body=body, orelse=orelse):
            return is_kept(m, body, depth) and is_kept(m, orelse, depth)
        case ir.Name(id=name) if depth < _DEPTH:
            bound = m.frame.scope.lookup(name)
            return bool(bound) and all(
                binding.value is not None
                and not isinstance(binding.value, ir.Name)
                and is_kept(m, binding.value, depth + 1)
                for binding in bound
            )
    return False


def _is_written(m: State, attribute: str) -> bool:
    """Return whether a method other than `__init__` of the class assigns to an attribute, to a part of it, or
    calls what changes it in place."""
    around = m.frame.scope.class_scope
    cls = around.node if around is not None else None
    body = cls.body if isinstance(cls, ir.ClassDef) else ()
    methods = {f.name: f for f in body if isinstance(f, ir.FunctionDef)}
    if around is not None:
        methods |= around.free_methods
    later = methods.keys() - _of_constructor(methods)
    return any(_writes(node, attribute) for name in later for node in ir.walk(methods[name]))


def _of_constructor(methods: Mapping[str, ir.FunctionDef]) -> Set[str]:
    """Return `__init__` and the methods that nothing in the class calls but it."""
    called = {name: _called(method) & methods.keys() for name, method in methods.items()}
    later = frozenset().union(*(names for name, names in called.items() if name != "__init__"))
    return {"__init__", *(called.get("__init__", frozenset()) - later)}


def _called(method: ir.FunctionDef) -> Set[str]:
    """Return the last names of what a method calls."""
    calls = (node.func for node in ir.walk(method) if isinstance(node, ir.Call))
    return {path_of(func).rpartition(".")[2] for func in calls}


def _writes(node: ir.Node, attribute: str) -> bool:
    match node:
        case ir.Assign(targets=targets):
            return any(_names(target, attribute) for target in targets)
        case ir.AugAssign(target=target) | ir.AnnAssign(target=target):
            return _names(target, attribute)
        case ir.Call(func=ir.Attribute(value=owner, attr=method)):
            return method.endswith("_") and _names(owner, attribute)
    return False


def _names(target: ir.Node, attribute: str) -> bool:
    parts = target.elements if isinstance(target, ir.Sequence) else (target,)
    for part in parts:
        while isinstance(part, ir.Subscript):
            part = part.value
        if isinstance(part, ir.Attribute) and part.attr == attribute:
            return True
    return False
