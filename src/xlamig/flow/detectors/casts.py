"""Tell code in which autocast changes nothing from code in which it may: a product of matrices, a module."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.detectors.blocks import function_called
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_BUILTINS = frozenset(dir(builtins))


def may_be_cast(body: Iterable[ir.Node], names: Names, scope: Scope) -> bool:
    """Return whether autocast may change the type of a result in code: it multiplies matrices, or calls a
    module, an unknown function, or an operator that is not known to keep the type."""
    return any(_may_cast(node, names, scope) for part in body for node in ir.walk(part))


def _may_cast(node: ir.Node, names: Names, scope: Scope) -> bool:
    match node:
        case ir.Binary(op=op) | ir.AugAssign(op=op):
            return op == "@"
        case ir.Call(func=ir.Name(id=name)) if name in _BUILTINS and not scope.lookup(name):
            return False
        case ir.Call(func=ir.Attribute(value=ir.Name(id="self" | "cls"))):
            return True  # a part of a module, or a method
        case ir.Call(func=ir.Attribute(attr=method) as func):
            dotted = names.dotted(func, scope) or ""
            known = not dotted or dotted.startswith(("torch.", "Tensor.", "math."))
            return not known or method not in table.names("autocast", "same")
        case ir.Call(func=func):
            name = (names.dotted(func, scope) or "").removeprefix("torch.nn.functional.")
            if path_of(func) and name.removeprefix("torch.") in table.names("autocast", "same"):
                return False
            function = function_called(node, scope)
            found = function_behind(node, scope) if function is not None else None
            return found is None or may_be_cast(found[0].body, names, found[1])
    return False
