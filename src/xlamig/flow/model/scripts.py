"""Modules that do their work when they are run."""

from __future__ import annotations

from functools import lru_cache

from xlamig import ir
from xlamig.per_file import per_file

MARK = "__main__"
_PARSING = frozenset({"parse_args", "parse_known_args", "parse_args_into_dataclasses"})
_GRADIENTS = frozenset({"backward"})


def has_main_guard(module: ir.Module) -> bool:
    """`if __name__ == "__main__":` stands at module level."""
    return any(isinstance(statement, ir.If) and _asks_for_main(statement.test) for statement in module.body)


@per_file
@lru_cache(maxsize=16)  # each loader of a module asks again
def is_script(module: ir.Module) -> bool:
    """A main guard, or a loop at module level that does more than set attributes."""
    return has_main_guard(module) or any(
        isinstance(s, ir.For | ir.While) and not all(map(_sets_attribute, s.body))
        for s in ir.own_statements(module.body)
    )


def runs_nothing(module: ir.Module) -> bool:
    """Return whether the main guard calls only functions that do nothing: `def main(): pass`."""
    empty = {n.name for n in module.body if isinstance(n, ir.FunctionDef) and all(map(_is_idle, n.body))}
    guarded = [s for n in module.body if isinstance(n, ir.If) and _asks_for_main(n.test) for s in n.body]
    return bool(guarded) and all(_is_idle(s) or _calls(s, empty) for s in guarded)


@per_file
@lru_cache(maxsize=16)
def starts_program(module: ir.Module) -> bool:
    """A main guard, or at module level the arguments of the command line are parsed, or a loop computes
    gradients: no library does that."""
    if has_main_guard(module):
        return True
    return any(
        _calls_method(statement.value, _PARSING)
        if isinstance(statement, ir.Assign | ir.ExprStmt)
        else isinstance(statement, ir.For | ir.While) and _trains(statement)
        for statement in ir.own_statements(module.body)
    )


def run_on_import(module: ir.Module) -> list[ir.Node]:
    """Return the statements that run when the module is loaded, and the functions and classes of the module
    that they call, also through each other."""
    defined = {n.name: n for n in module.body if isinstance(n, ir.FunctionDef | ir.ClassDef)}
    found: list[ir.Node] = [
        s for s in ir.own_statements(module.body) if not isinstance(s, ir.FunctionDef | ir.ClassDef)
    ]
    for node in found:
        called = {n.func.id for n in ir.walk(node) if isinstance(n, ir.Call) and isinstance(n.func, ir.Name)}
        found += [defined.pop(name) for name in sorted(called & defined.keys())]
    return found


def _trains(loop: ir.For | ir.While) -> bool:
    """Return whether a loop, or one in it, calls `backward()` itself, not in a function that it defines."""
    return any(
        _trains(statement)
        if isinstance(statement, ir.For | ir.While)
        else isinstance(statement, ir.ExprStmt) and _calls_method(statement.value, _GRADIENTS)
        for statement in ir.own_statements(loop.body)
    )


def _calls_method(value: ir.Expr, names: frozenset[str]) -> bool:
    """Return whether an expression calls a method of one of these names."""
    called = (node.func for node in ir.walk(value) if isinstance(node, ir.Call))
    return any(isinstance(func, ir.Attribute) and func.attr in names for func in called)


def _asks_for_main(test: ir.Expr) -> bool:
    nodes = list(ir.walk(test))
    named = any(isinstance(node, ir.Name) and node.id == "__name__" for node in nodes)
    return named and any(isinstance(node, ir.Const) and node.value == MARK for node in nodes)


def _sets_attribute(statement: ir.Stmt) -> bool:
    """Return whether a statement only sets an attribute: `setattr(Net, name, f)`."""
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Name(id="setattr"))):
            return True
    return False


def _is_idle(statement: ir.Stmt) -> bool:
    match statement:
        case ir.Jump(kind="pass") | ir.ExprStmt(value=ir.Const()):
            return True
    return False


def _calls(statement: ir.Stmt, names: set[str]) -> bool:
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Name(id=name))):
            return name in names
    return False
