"""Find handlers that let a program go on after an error."""

from __future__ import annotations

from xlamig import ir
from xlamig.fix.scopes import dotted_name, path_to


def is_guarded(module: ir.Module, statement: ir.Stmt) -> bool:
    """Return whether a `try` of the file may go on after an error of a statement: one around it, or around
    code that names a function or class around it, however many calls lead there."""
    tries = [node for node in ir.walk(module) if isinstance(node, ir.Try) and _may_go_on(node)]
    around = path_to(module, statement.start, statement.end)
    if any(part is one for one in tries for part in around):
        return True
    names = {node.name for node in around if isinstance(node, ir.FunctionDef | ir.ClassDef)}
    functions = [node for node in ir.walk(module) if isinstance(node, ir.FunctionDef | ir.ClassDef)]
    while more := {f.name for f in functions if f.name not in names and names & _mentions_of(f)}:
        names |= more
    return any(names & _mentions_of(one) for one in tries)


def _may_go_on(node: ir.Try) -> bool:
    """Return whether a `try` does anything after an error of the program itself."""
    kinds = [dotted_name(handler.type) if handler.type else "" for handler in node.handlers]
    return bool(node.final) or not {*kinds} <= {"KeyboardInterrupt", "ImportError"}


def _mentions_of(root: ir.Node) -> set[str]:
    nodes = ir.walk(root)
    return {
        n.id if isinstance(n, ir.Name) else n.attr for n in nodes if isinstance(n, ir.Name | ir.Attribute)
    }
