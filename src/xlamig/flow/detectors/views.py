"""Tell code that may make a view of a tensor, as every call of a module does, from code that does not."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.detectors.blocks import function_called
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_MOVES = frozenset({"to", "cuda"})
_BUILTINS = frozenset(dir(builtins))


def may_make_view(body: Iterable[ir.Node], names: Names, scope: Scope) -> bool:
    """Return whether code may make a view: call a module or an unknown function, multiply matrices, slice
    or iterate over a tensor."""
    return any(_may_view(node, names, scope) for part in body for node in ir.walk(part))


def makes_model(body: Iterable[ir.Node]) -> bool:
    """Return whether code makes a model, `model = load(path)`, or moves one: `model = model.cuda()`."""
    return any(_makes_model(node) for part in body for node in ir.walk(part))


def _makes_model(node: ir.Node) -> bool:
    match node:
        case (
            ir.Assign(targets=(target,), value=ir.Call() as value)
            | ir.AnnAssign(target=target, value=ir.Call() as value)
        ):
            if isinstance(value.func, ir.Attribute) and _is_model_class(value.func.value):
                return True
            targets = target.elements if isinstance(target, ir.Sequence) else (target,)
            if not any(map(_names_model, targets)):
                return False
            while isinstance(value.func, ir.Attribute) and isinstance(value.func.value, ir.Call):
                if value.func.attr in _MOVES:
                    return True
                value = value.func.value
            if isinstance(value.func, ir.Attribute) and _names_model(value.func.value):
                return value.func.attr in _MOVES
            return not any(_names_model(arg.value) for arg in value.args)
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=moved, attr=attr))):
            return attr in _MOVES and _names_model(moved)
    return False


def _is_model_class(node: ir.Expr) -> bool:
    return _is_like("module-annotation", path_of(node).rpartition(".")[2])


def _names_model(node: ir.Expr) -> bool:
    name = path_of(node).rpartition(".")[2]
    if name[:1].isupper() or _is_like("python-entry", name):  # a class makes one, and `num_gpus_per_model`
        return False
    return _is_like("module", name)


def _may_view(node: ir.Node, names: Names, scope: Scope) -> bool:
    match node:
        case ir.Call():
            return not _is_plain(node, names, scope) and _view_behind(node, names, scope)
        case ir.Binary(op=op) | ir.AugAssign(op=op):
            return op == "@"
        case ir.Attribute(attr=name):
            return name in table.names("attributes", "tensor") and name != "grad"
        case ir.Subscript(index=index):
            return not all(map(_is_key, index))
        case ir.For(iter=over) | ir.Generator(iter=over):
            return not isinstance(over, ir.Call)
    return False


def _view_behind(node: ir.Call, names: Names, scope: Scope) -> bool:
    """Return whether a function that is called may make a view: one of the module by what it does, if it
    calls no other."""
    function = function_called(node, scope)
    found = function_behind(node, scope) if function is not None else None
    return found is None or may_make_view(found[0].body, names, found[1])


def _is_plain(node: ir.Call, names: Names, scope: Scope) -> bool:
    """Return whether a call is of a builtin, a method of tensors or containers, or a function of torch or
    Python's library, and none that makes a view."""
    func = node.func
    dotted = names.dotted(func, scope)
    if dotted is not None:
        return _is_like("viewless-calls", dotted) and not _is_like("viewing", dotted.rpartition(".")[2])
    if isinstance(func, ir.Name):
        return func.id in _BUILTINS and not scope.lookup(func.id)
    if not isinstance(func, ir.Attribute) or _is_like("viewing", func.attr):
        return False
    return _is_like("viewless-methods", func.attr) or signatures.signature(f"Tensor.{func.attr}") is not None


def _is_like(kind: str, name: str) -> bool:
    return table.name_like(kind).search(name) is not None


def _is_key(node: ir.Expr) -> bool:
    """Return whether an index is one of a dictionary, by its value or its name."""
    if isinstance(node, ir.Const):
        return isinstance(node.value, str)
    return isinstance(node, ir.Name) and _is_like("keys", node.id)
