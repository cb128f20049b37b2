"""The key of the positions that a function passes on."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.option_codes import STAR, binder_of, function_name, parameter_key
from xlamig.flow.model.scopes import Scope


def starred_key(node: ir.Expr, scope: Scope) -> str:
    """Return the key of the positions that a function passes on, `*args` in it; "" for others."""
    bindings = scope.lookup(node.id) if isinstance(node, ir.Name) else []
    if not isinstance(node, ir.Name) or len(bindings) != 1:
        return ""
    binder = binder_of(bindings, node.id, scope)
    function = binder.node
    stars = function.params if isinstance(function, ir.FunctionDef) else ()
    is_star = any(param.kind == "*" and param.name == node.id for param in stars)
    return parameter_key(function_name(binder), STAR) if is_star else ""
