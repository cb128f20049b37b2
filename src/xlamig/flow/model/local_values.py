"""The values that a name has at a place of its function, and those that functions of the module return."""

from __future__ import annotations

from bisect import bisect_right

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of


class LocalBindings:
    """The bindings that a use of a local name may see. What is known of a name is kept for its other uses."""

    def __init__(self) -> None:
        self._replacing: dict[tuple[Scope, int], tuple[list[Binding], list[int], list[int]]] = {}

    def reaching(self, bindings: list[Binding], node: ir.Expr, scope: Scope) -> list[Binding]:
        """Return the bindings that a use may see: in the body of a function, a statement that gives the name
        a value replaces those above."""
        if scope.kind != "function" or len(bindings) < 2:
            return bindings
        known = self._replacing.get((scope, id(bindings)))
        if known is None:  # with the list, so that it keeps its identity
            known = self._replacing[scope, id(bindings)] = bindings, *_replacing(bindings, scope)
        _, ends, places = known
        at = bisect_right(ends, node.start)
        return bindings[places[at - 1] :] if at else bindings


def _replacing(bindings: list[Binding], scope: Scope) -> tuple[list[int], list[int]]:
    """Return the ends, in order, of the statements that replace what stands above, and their positions in
    `bindings`; nothing where another function gives the name a value too."""
    if any(b.scope is not scope and b.kind != "param" for b in bindings):
        return [], []
    ends: list[int] = []
    places: list[int] = []
    for i, b in enumerate(bindings):
        if b.scope is not scope or b.kind != "value" or b.block:
            continue
        while ends and ends[-1] >= b.end:  # a `with` ends after what stands in it
            ends.pop()
            places.pop()
        ends.append(b.end)
        places.append(i)
    return ends, places


def function_behind(node: ir.Call, scope: Scope) -> tuple[ir.FunctionDef, Scope] | None:
    """Return the function of the module, or the method of the same object, that a call runs, with its scope;
    None for another one, and where a decorator may change it."""
    path = path_of(node.func)
    bound = scope.find(path) if path else []
    function, inner = (bound[0].node, bound[0].inner) if len(bound) == 1 else (None, None)
    if not isinstance(function, ir.FunctionDef) or inner is None or function.decorators:
        return None
    return function, inner


def only_returns(node: ir.Call, scope: Scope) -> bool:
    """Return whether a call without arguments is of a function that does nothing but return a value."""
    bound = scope.find(path_of(node.func))
    body = bound[0].node.body if bound and bound[0].node is not None else ()
    return not node.args and sum(not isinstance(part, ir.ExprStmt) for part in body) == 1


def only_result(node: ir.Call, scope: Scope) -> tuple[ir.Expr, Scope] | None:
    """Return what a function of the module, or a method of the same object, returns on every path, with the
    function's scope; None for another one."""
    found = function_behind(node, scope)
    if found is None:
        return None
    function, inner = found
    last = function.body[-1]
    if not isinstance(last, ir.Return) or last.value is None:
        return None
    others = (part for statement in function.body[:-1] for part in ir.statements(statement))
    return None if any(isinstance(part, ir.Return) for part in others) else (last.value, inner)
