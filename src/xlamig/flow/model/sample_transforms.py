"""Find the expressions that make what transforms the samples of a dataset."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import Scope, ScopeTable
from xlamig.flow.model.worker_arguments import transforms_samples

_ADDS = frozenset({"append", "extend", "insert"})


def sample_transforms(module: ir.Module, scopes: ScopeTable) -> Iterator[ir.Expr]:
    """Yield what calls give datasets and `Compose` to transform samples, what the names in it are set to, and
    what is appended to the lists that they stand for."""
    calls = of_kind(module, ir.Call)
    if not any(transforms_samples(call, arg) for call in calls for arg in call.args):
        return
    for scope in (scopes.module, *scopes.functions()):
        body = module.body if scope is scopes.module else getattr(scope.node, "body", ())
        if isinstance(body, tuple):
            yield from _in_function(body, scope)


def _in_function(body: ir.Block, scope: Scope) -> Iterator[ir.Expr]:
    nodes = [node for statement in body for node in _own_nodes(statement)]
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ir.Call):
            given = [arg.value for arg in node.args if transforms_samples(node, arg)]
            names.update(*map(_names, given))
            yield from given
    names &= scope.bindings.keys()
    for node in nodes if names else ():
        match node:
            case ir.Assign(targets=(ir.Name(id=name),), value=value) if name in names:
                yield value
            case ir.AugAssign(target=ir.Name(id=name), value=value) if name in names:
                yield value
            case ir.Call(func=ir.Attribute(value=ir.Name(id=name), attr=adds)) if name in names:
                yield from (arg.value for arg in node.args if adds in _ADDS)


def _own_nodes(node: ir.Node) -> Iterator[ir.Node]:
    """Yield a node and those in it, without functions and classes that are defined there."""
    if isinstance(node, ir.FunctionDef | ir.ClassDef):
        return
    yield node
    for child in ir.children(node):
        yield from _own_nodes(child)


def _names(value: ir.Expr) -> frozenset[str]:
    """Return the names that stand for transforms in a value: those of `a + [b]`, not those in a call."""
    match value:
        case ir.Name(id=name):
            return frozenset({name})
        case ir.Binary() | ir.Sequence() | ir.IfExp() | ir.Starred():
            parts = [part for part in ir.children(value) if isinstance(part, ir.Expr)]
            return frozenset().union(*map(_names, parts))
    return frozenset()
