"""Classes that nobody makes an object of: their constructors always raise."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.scopes import path_of

_WITHOUT_OBJECT = frozenset({"staticmethod", "classmethod"})


def cannot_be_made(node: ir.ClassDef) -> bool:
    """Return whether a class's own constructor always raises, and it has no method to call without an object
    and no other way to make one."""
    methods = {part.name: part for part in node.body if isinstance(part, ir.FunctionDef)}
    constructor = methods.get("__init__")
    if constructor is None or "__new__" in methods or not _always_raises(constructor):
        return False
    decorators = (path_of(decorator) for method in methods.values() for decorator in method.decorators)
    return not any(map(_WITHOUT_OBJECT.__contains__, decorators))


def _always_raises(function: ir.FunctionDef) -> bool:
    statement = next((part for part in function.body if ends_program((part,))), None)
    before = (part for part in function.body if statement is not None and part.start < statement.start)
    return statement is not None and not any(
        isinstance(node, ir.Return | ir.Yield) for part in before for node in ir.walk(part)
    )
