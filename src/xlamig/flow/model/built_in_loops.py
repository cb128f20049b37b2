"""Classes of which a loop builds several objects: the blocks of a network."""

from __future__ import annotations

from functools import cache

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import path_of
from xlamig.per_file import per_file


def is_built_in_loop(module: ir.Module, cls: ir.Node | None) -> bool:
    """Return whether a loop or comprehension of the class's file builds objects of it."""
    return isinstance(cls, ir.ClassDef) and cls.name in _classes_built(module)


@per_file
@cache
def _classes_built(module: ir.Module) -> frozenset[str]:
    """Return the names that loops of a module's constructors, and comprehensions, call."""
    bodies: list[ir.Node] = [one.element for one in of_kind(module, ir.Comprehension)]
    for function in of_kind(module, ir.FunctionDef):
        if function.name == "__init__":
            loops = [node for node in ir.walk(function) if isinstance(node, ir.For)]
            bodies.extend(statement for loop in loops for statement in loop.body)
    calls = (node for body in bodies for node in ir.walk(body) if isinstance(node, ir.Call))
    return frozenset(path_of(call.func) for call in calls)
