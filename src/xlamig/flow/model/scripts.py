"""Modules that do their work when they are run."""

from __future__ import annotations

from xlamig import ir

MARK = "__main__"


def has_main_guard(module: ir.Module) -> bool:
    """`if __name__ == "__main__":` stands at module level."""
    return any(isinstance(statement, ir.If) and _asks_for_main(statement.test) for statement in module.body)


def is_script(module: ir.Module) -> bool:
    """A main guard, or a loop at module level."""
    return has_main_guard(module) or any(
        isinstance(s, ir.For | ir.While) for s in ir.own_statements(module.body)
    )


def _asks_for_main(test: ir.Expr) -> bool:
    nodes = list(ir.walk(test))
    named = any(isinstance(node, ir.Name) and node.id == "__name__" for node in nodes)
    return named and any(isinstance(node, ir.Const) and node.value == MARK for node in nodes)
