"""Tell code that may make a view of a tensor, as every call of a module does, from code that does not."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_BUILTINS = frozenset(dir(builtins))
_OF_CONTAINERS = frozenset(
    {"append", "extend", "get", "insert", "items", "join", "keys", "pop", "setdefault", "update", "values"}
)
_PLAIN = re.compile(
    r"^(?:torch|numpy|math|time|os|sys|random|logging|warnings|contextlib|itertools|functools|collections|json)\."
)


def may_make_view(body: Iterable[ir.Node], names: Names, scope: Scope) -> bool:
    """Return whether code may make a view: call a module or an unknown function, multiply matrices, slice
    or iterate over a tensor."""
    return any(_may_view(node, names, scope) for part in body for node in ir.walk(part))


def _may_view(node: ir.Node, names: Names, scope: Scope) -> bool:
    match node:
        case ir.Call():
            return not _is_plain(node, names, scope)
        case ir.Binary(op=op) | ir.AugAssign(op=op):
            return op == "@"
        case ir.Attribute(attr=name):
            return name in table.names("attributes", "tensor") and name != "grad"
        case ir.Subscript(index=index):
            return not all(map(_is_key, index))
        case ir.For(iter=over) | ir.Generator(iter=over):
            return not isinstance(over, ir.Call)
    return False


def _is_plain(node: ir.Call, names: Names, scope: Scope) -> bool:
    """Return whether a call is of a builtin, a method of tensors or containers, or a function of torch or
    Python's library, and none that makes a view."""
    func = node.func
    dotted = names.dotted(func, scope)
    if dotted is not None:
        return _PLAIN.match(dotted) is not None and not _views(dotted.rpartition(".")[2])
    if isinstance(func, ir.Name):
        return func.id in _BUILTINS and not scope.lookup(func.id)
    if not isinstance(func, ir.Attribute) or _views(func.attr):
        return False
    return func.attr in _OF_CONTAINERS or signatures.signature(f"Tensor.{func.attr}") is not None


def _views(name: str) -> bool:
    return table.name_like("viewing").search(name) is not None


def _is_key(node: ir.Expr) -> bool:
    """Return whether an index is one of a dictionary, by its value or its name."""
    if isinstance(node, ir.Const):
        return isinstance(node.value, str)
    return isinstance(node, ir.Name) and table.name_like("keys").search(node.id) is not None
