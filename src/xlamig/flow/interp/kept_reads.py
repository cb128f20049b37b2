"""Reads of what an object keeps: they leave what the program computes to be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import lru_cache

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
    if around is None:
        return False
    cls = around.node if isinstance(around.node, ir.ClassDef) else None
    return attribute in _written(cls, tuple(around.free_methods.values()))


@lru_cache(maxsize=16)  # each read in a class asks again
def _written(cls: ir.ClassDef | None, free: tuple[ir.FunctionDef, ...]) -> Set[str]:
    """Return the attributes that methods of a class write, `free` functions that are among them too."""
    body = cls.body if cls is not None else ()
    methods = {f.name: f for f in (*body, *free) if isinstance(f, ir.FunctionDef)}
    later = methods.keys() - _of_constructor(methods)
    return {attribute for name in later for node in ir.walk(methods[name]) for attribute in _writes(node)}


def _of_constructor(methods: Mapping[str, ir.FunctionDef]) -> Set[str]:
    """Return `__init__` and the methods that nothing in the class calls but it."""
    called = {name: _called(method) & methods.keys() for name, method in methods.items()}
    later = frozenset().union(*(names for name, names in called.items() if name != "__init__"))
    return {"__init__", *(called.get("__init__", frozenset()) - later)}


def _called(method: ir.FunctionDef) -> Set[str]:
    """Return the last names of what a method calls."""
    calls = (node.func for node in ir.walk(method) if isinstance(node, ir.Call))
    return {path_of(func).rpartition(".")[2] for func in calls}


def _writes(node: ir.Node) -> Iterator[str]:
    """Yield the attributes that a statement or a call writes."""
    match node:
        case ir.Assign(targets=targets):
            for target in targets:
                yield from _attributes(target)
        case ir.AugAssign(target=target) | ir.AnnAssign(target=target):
            yield from _attributes(target)
        case ir.Call(func=ir.Attribute(value=owner, attr=method)) if method.endswith("_"):
            yield from _attributes(owner)


def _attributes(target: ir.Node) -> Iterator[str]:
    """Yield the attributes of what is assigned to, or of what holds it."""
    parts = target.elements if isinstance(target, ir.Sequence) else (target,)
    for part in parts:
        while isinstance(part, ir.Subscript):
            part = part.value
        if isinstance(part, ir.Attribute):
            yield part.attr
