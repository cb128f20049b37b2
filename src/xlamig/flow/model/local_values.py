"""The values that a name has at a place of its function, and those that functions of the module return."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of


def bindings_reaching(bindings: list[Binding], node: ir.Expr, scope: Scope) -> list[Binding]:
    """Return the bindings of a local name that a use may see: in the body of a function, a statement that
    gives it a value replaces those above."""
    before = [
        i
        for i, b in enumerate(bindings)
        if b.scope is scope and b.kind == "value" and not b.block and b.end <= node.start
    ]
    own = before and scope.kind == "function" and all(b.scope is scope or b.kind == "param" for b in bindings)
    return bindings[before[-1] :] if own else bindings


def only_result(node: ir.Call, scope: Scope) -> ir.Expr | None:
    """Return what a function of the module, or a method of the same object, returns if it does nothing else;
    None for another one, and where it takes arguments."""
    path = path_of(node.func)
    bound = scope.find(path) if path and not node.args else []
    function = bound[0].node if len(bound) == 1 else None
    body = function.body if isinstance(function, ir.FunctionDef) else ()
    match [part for part in body if not isinstance(part, ir.ExprStmt)]:
        case [ir.Return(value=value)]:
            return value
    return None
