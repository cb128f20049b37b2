"""Find the targets that a statement assigns or returns."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.scopes import Scope, path_of


def outcomes(node: ir.Stmt) -> Iterator[tuple[tuple[str, int], ir.Expr]]:
    """Yield what a statement assigns, by name, and what it returns, by position under an empty name."""
    if isinstance(node, ir.Return) and node.value is not None:
        values = node.value.elements if isinstance(node.value, ir.Sequence) else (node.value,)
        yield from ((("", i), value) for i, value in enumerate(values))
    elif isinstance(node, ir.Assign):
        target, value = node.targets[0], node.value
        together = isinstance(target, ir.Sequence) and isinstance(value, ir.Sequence)
        targets = target.elements if isinstance(target, ir.Sequence) and together else (target,)
        values = value.elements if isinstance(value, ir.Sequence) and together else (value,)
        pairs = zip(targets, values, strict=False)
        yield from (((path, 0), v) for t, v in pairs if (path := path_of(t)))


def outcomes_behind(node: ir.Stmt, scope: Scope) -> Iterator[tuple[tuple[str, int], ir.Expr]]:
    """Yield the outcomes of a statement; of a call, what the function of the module that it runs assigns to
    attributes of its arguments: `configure(args)`."""
    yield from outcomes(node)
    call = node.value if isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Call) else None
    found = function_behind(call, scope) if call is not None else None
    if call is None or found is None:
        return
    own = {"self": "self"} if isinstance(call.func, ir.Attribute) else {}
    given = own | {name: path_of(value) for name, value in arguments(call, found[0]).items()}
    for statement in found[0].body:
        for (path, position), value in outcomes(statement):
            name, _, rest = path.partition(".")
            if rest and given.get(name):
                yield (f"{given[name]}.{rest}", position), value
