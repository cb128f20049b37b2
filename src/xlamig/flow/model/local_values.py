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
