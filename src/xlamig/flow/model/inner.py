"""Scopes inside others: what a lambda or a comprehension calls its own, and which functions hold which."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope


def scope_inside(node: ir.Lambda | ir.Comprehension, scope: Scope) -> Scope:
    """The scope of a lambda's body, or of a comprehension in `scope`."""
    inner = Scope("expression", scope.name, scope, scope.node)
    if isinstance(node, ir.Lambda):
        for param in node.params:
            bound = Binding("param", scope, param.start, param.end, (), value=param.default)
            inner.bindings[param.name] = [bound]
        return inner
    for generator in node.generators:
        for name in _targets(generator.target):
            inner.bindings[name] = [Binding("opaque", inner, generator.start, generator.end, ())]
    return inner


def is_inside(scope: str, around: Collection[str]) -> bool:
    """Return whether a scope is one of others, or lies in one, by their qualified names."""
    return any(scope == one or scope.startswith(f"{one}.") for one in around)


def _targets(target: ir.Expr) -> Iterator[str]:
    for node in ir.walk(target):
        if isinstance(node, ir.Name):
            yield node.id
