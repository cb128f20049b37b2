"""Modules that do their work when they are run."""

from __future__ import annotations

from xlamig import ir

MARK = "__main__"


def has_main_guard(module: ir.Module) -> bool:
    """`if __name__ == "__main__":` stands at module level."""
    return any(isinstance(statement, ir.If) and _asks_for_main(statement.test) for statement in module.body)


def is_script(module: ir.Module) -> bool:
    """A main guard, or a loop at module level."""
    return has_main_guard(module) or _loops(module.body)


def _asks_for_main(test: ir.Expr) -> bool:
    nodes = list(ir.walk(test))
    named = any(isinstance(node, ir.Name) and node.id == "__name__" for node in nodes)
    return named and any(isinstance(node, ir.Const) and node.value == MARK for node in nodes)


def _loops(block: ir.Block) -> bool:
    for statement in block:
        match statement:
            case ir.For() | ir.While():
                return True
            case ir.If(body=body, orelse=orelse):
                inner = [body, orelse]
            case ir.With(body=body):
                inner = [body]
            case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                inner = [body, *(handler.body for handler in handlers), orelse, final]
            case _:
                continue
        if any(map(_loops, inner)):
            return True
    return False
