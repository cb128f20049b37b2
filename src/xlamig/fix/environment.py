"""Detect statements that set environment variables."""

from __future__ import annotations

from xlamig import ir

_PUTENV = ("putenv", "unsetenv")
_ENVIRONMENT_METHODS = ("setdefault", "update", "pop", "popitem", "clear")


def writes_environment(text: str, statement: ir.Stmt) -> bool:
    """Return whether a statement assigns, deletes or updates environment variables."""
    return any(_is_environment_write(text, node) for node in ir.walk(statement))


def _is_environment_write(text: str, node: ir.Node) -> bool:
    if isinstance(node, ir.Assign | ir.Delete):
        targets = [t.value for t in node.targets if isinstance(t, ir.Subscript)]
    elif isinstance(node, ir.AugAssign):
        targets = [node.target]
    elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr in _PUTENV:
            return True
        targets = [node.func.value] if node.func.attr in _ENVIRONMENT_METHODS else []
    else:
        return False
    return any(text[t.start : t.end].endswith("environ") for t in targets)
