"""Decorators that leave a function to who names it."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def is_plain(decorator: ir.Expr) -> bool:
    """Return whether a decorator calls a function only where it is called, with the same arguments, or leaves
    a class to who names it."""
    called = decorator.func if isinstance(decorator, ir.Call) else decorator
    return path_of(called).rpartition(".")[2] in table.names("modules", "left-alone")


def is_named_to_run(node: ir.FunctionDef | ir.ClassDef, owner: str = "") -> bool:
    """Return whether only a mention of its name runs a function, class or method of `owner`: no decorator
    registers it under another name, and torch does not call it."""
    others = (decorator for decorator in node.decorators if not registers_own_name(decorator))
    special = node.name.startswith("__") or (owner and node.name in table.names("modules", "called"))
    return not (isinstance(node, ir.FunctionDef) and special) and all(map(is_plain, others))


def registers_own_name(decorator: ir.Node) -> bool:
    """Return whether a decorator gives a registry what it decorates under its own name: `NETS.register()`."""
    func = decorator.func if isinstance(decorator, ir.Call) and not decorator.args else None
    return isinstance(func, ir.Attribute) and func.attr in table.names("modules", "registries")
