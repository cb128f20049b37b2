"""Indices that are called masks and hold integers: code for graphs calls the sample of each node so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_INDEX = "index"  # of torch's parameters, those of this name take integers alone
_DEPTH = 2  # functions that pass it on
_ELEMENTWISE = frozenset({"+", "-", "*", "/"})


def holds_integers(m: State, node: ir.Expr) -> bool:
    """Return whether what a function does with a name shows that it holds integers: torch takes it for an
    index, `h.scatter_add(0, mask, x)`, a function of the module calls it one, or what it picks is computed
    with a tensor of its own length, `x[mask] * torch.randn(len(mask), 3)`; a mask picks fewer."""
    return isinstance(node, ir.Name) and _holds_integers(m, node.id, m.frame.scope, _DEPTH)


def _holds_integers(m: State, name: str, scope: Scope, depth: int) -> bool:
    root = scope.node
    if not isinstance(root, ir.FunctionDef):
        return False
    if any(_is_index(call, name, m, scope, depth) for call in _calls(root).get(name, ())):
        return True
    picked = (other for one, other in _picked(root) if one == name)
    return any(_is_as_long(other, name, scope) for other in picked)


@per_file
@lru_cache(maxsize=64)
def _calls(root: ir.FunctionDef) -> Mapping[str, list[ir.Call]]:
    """Return the calls below a function by the names that they are given as they are."""
    found: dict[str, list[ir.Call]] = {}
    for call in ir.walk(root):
        if isinstance(call, ir.Call):
            for arg in call.args:
                if isinstance(arg.value, ir.Name):
                    found.setdefault(arg.value.id, []).append(call)
    return found


def _is_index(call: ir.Call, name: str, m: State, scope: Scope, depth: int) -> bool:
    """Return whether a call gives a name to a parameter of torch for an index, or to one of a function of the
    module that is called so, or holds integers itself."""
    if (path := path_of(call.func)) and (function := _function(path, scope)) is not None:
        node, inner = function
        names = [param.name for param in node.params]
        given = _parameters_given(call, name, names[names[:1] in (["self"], ["cls"]) :])
        return any(
            table.name_like("indices").search(one) or (depth and _holds_integers(m, one, inner, depth - 1))
            for one in given
        )
    dotted = m.names.dotted(call.func, scope) or ""
    method = call.func.attr if isinstance(call.func, ir.Attribute) else ""
    known = signatures.signature(dotted if dotted.startswith("torch.") else f"Tensor.{method}")
    return known is not None and _INDEX in _parameters_given(call, name, known.positional)


def _function(path: str, scope: Scope) -> tuple[ir.FunctionDef, Scope] | None:
    """Return the function of the module, or the method of the same object, with a path."""
    bound = scope.find(path)
    node, inner = (bound[0].node, bound[0].inner) if len(bound) == 1 else (None, None)
    return (node, inner) if isinstance(node, ir.FunctionDef) and inner is not None else None


def _parameters_given(call: ir.Call, name: str, positional: Sequence[str]) -> list[str]:
    """Return the parameters that a call gives a name to; `positional` are those that positions stand for."""
    plain = [arg.value for arg in call.args if arg.keyword is None]
    if any(arg.star for arg in call.args):
        return []
    given = [*zip(positional, plain, strict=False)]
    given += [(arg.keyword, arg.value) for arg in call.args if arg.keyword]
    return [param for param, value in given if isinstance(value, ir.Name) and value.id == name]


@per_file
@lru_cache(maxsize=64)
def _picked(root: ir.FunctionDef) -> list[tuple[str, ir.Expr]]:
    """Return the names that pick rows of a tensor below a function, each with what these are computed with:
    `n` and `y` of `x[n] * y`."""
    found: list[tuple[str, ir.Expr]] = []
    for node in ir.walk(root):
        match node:
            case ir.Binary(op=op, left=left, right=right) if op in _ELEMENTWISE:
                for one, other in ((left, right), (right, left)):
                    match one:
                        case ir.Subscript(index=(ir.Name(id=name),)):
                            found.append((name, other))
    return found


def _is_as_long(node: ir.Expr, name: str, scope: Scope) -> bool:
    """Return whether an expression is, or stands for, a call that makes a tensor as long as what a name
    holds: `torch.randn(len(name), 3)`."""
    if isinstance(node, ir.Name):
        bound = scope.find(node.id)
        value = bound[0].value if len(bound) == 1 and bound[0].kind == "value" else None
        return value is not None and not isinstance(value, ir.Name) and _is_as_long(value, name, scope)
    if not isinstance(node, ir.Call):
        return False
    sizes = [arg.value for arg in node.args if arg.keyword == "size"]
    if not sizes and path_of(node.func).startswith("torch."):
        sizes = [arg.value for arg in node.args[:1] if arg.keyword is None]
    first = sizes[0] if sizes else None
    if isinstance(first, ir.Sequence):
        first = first.elements[0] if first.elements else None
    return first is not None and _is_length(first, name)


def _is_length(node: ir.Expr, name: str) -> bool:
    match node:
        case (
            ir.Call(func=ir.Name(id="len"), args=(ir.Arg(value=ir.Name(id=of)),))
            | ir.Call(
                func=ir.Attribute(value=ir.Name(id=of), attr="size"), args=(ir.Arg(value=ir.Const(value=0)),)
            )
            | ir.Call(func=ir.Attribute(value=ir.Name(id=of), attr="numel"), args=())
            | ir.Subscript(value=ir.Attribute(value=ir.Name(id=of), attr="shape"), index=(ir.Const(value=0),))
        ):
            return of == name
    return False
