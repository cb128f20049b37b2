"""Tell code in which autocast changes nothing from code in which it may: a product of matrices, a module."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.detectors.blocks import function_called
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_BUILTINS = frozenset(dir(builtins)) - {"eval", "exec", "map", "next"}
"""The functions of Python that call nothing unknown."""


def may_be_cast(body: Iterable[ir.Node], names: Names, scope: Scope) -> bool:
    """Return whether autocast may lower the type of a result in code: it multiplies matrices, or calls a
    module, an unknown function, or an operator that is not known to keep the type."""
    return any(_may_cast(node, names, scope) for part in body for node in ir.walk(part))


def may_be_raised(body: Iterable[ir.Node], names: Names, scope: Scope) -> bool:
    """Return whether autocast may return float32 for bfloat16 in code: an operator that it runs in float32
    is given tensors that nothing here makes float32."""
    return any(_may_raise(node, names, scope) for part in body for node in ir.walk(part))


def _may_cast(node: ir.Node, names: Names, scope: Scope) -> bool:
    match node:
        case ir.Yield():
            return True  # to the block of `with amp():`
        case ir.Binary(op=op) | ir.AugAssign(op=op):
            return op == "@"
        case ir.Call(func=ir.Name(id=name)) if name in _BUILTINS and not scope.lookup(name):
            return False
        case ir.Call(func=ir.Attribute(value=ir.Name(id="self" | "cls"))):
            return True  # a part of a module, or a method
        case ir.Call(func=ir.Attribute(attr=method) as func):
            return not _is_of_torch(func, names, scope) or method not in table.names("autocast", "same")
        case ir.Call(func=func):
            if path_of(func) and _short(func, names, scope) in table.names("autocast", "same"):
                return False
            found = _function(node, scope)
            return found is None or may_be_cast(found[0].body, names, found[1])
    return False


def _may_raise(node: ir.Node, names: Names, scope: Scope) -> bool:
    match node:
        case ir.Binary(op="**", left=ir.Binary() | ir.Call() as base):
            return not _is_float32(base, scope)  # `(x - y) ** 2`; a name may be a number
        case ir.Call(func=ir.Attribute(attr=method) as func):
            raised = _is_of_torch(func, names, scope) and method in table.names("autocast", "raised")
        case ir.Call(func=func):
            raised = _short(func, names, scope) in table.names("autocast", "raised")
            if not raised and (found := _function(node, scope)) is not None:
                return may_be_raised(found[0].body, names, found[1])
        case _:
            return False
    return raised and not _is_float32(node, scope)


def _is_of_torch(func: ir.Attribute, names: Names, scope: Scope) -> bool:
    """Return whether a call is of a function of torch or, as far as one knows, a method of a tensor."""
    dotted = names.dotted(func, scope) or ""
    return not dotted or dotted.startswith(("torch.", "Tensor.", "math."))


def _short(func: ir.Expr, names: Names, scope: Scope) -> str:
    """Return the name of a function without `torch` or `torch.nn.functional`."""
    name = (names.dotted(func, scope) or "").removeprefix("torch.nn.functional.")
    return name.removeprefix("torch.")


def _function(node: ir.Call, scope: Scope) -> tuple[ir.FunctionDef, Scope] | None:
    return function_behind(node, scope) if function_called(node, scope) is not None else None


def _is_float32(node: ir.Node, scope: Scope) -> bool:
    """Return whether something in an expression is made float32, or a name in it is in the function."""
    return any(map(_makes_float32, _with_names(node, scope)))


def _with_names(node: ir.Node, scope: Scope) -> Iterator[ir.Node]:
    """Yield the parts of an expression, and of what its local names are assigned."""
    for part in ir.walk(node):
        yield part
        if isinstance(part, ir.Name):
            for bound in scope.bindings.get(part.id, ()):
                if bound.kind == "value" and bound.value is not None:
                    yield from ir.walk(bound.value)


def _makes_float32(node: ir.Node) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(attr="float" | "double")):
            return True
    return isinstance(node, ir.Attribute) and path_of(node) in table.names("autocast", "full")
