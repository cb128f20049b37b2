"""Find the parameters that a class takes from the CPU: `x.numpy()` raises for a tensor of any device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.tensor_methods import keeps_kind

_MOVES = frozenset({"cpu", "to", "resolve_conj"})


def host_parameters(methods: Iterable[ir.FunctionDef]) -> frozenset[str]:
    """Return the names of the parameters that a method makes NumPy arrays of, without a copy to the CPU."""
    return frozenset(name for method in methods for name in _made_arrays(method))


def _made_arrays(method: ir.FunctionDef) -> Iterator[str]:
    origins = {param.name: param.name for param in method.params[1:]}
    for node in ir.walk(method):
        match node:
            case ir.Assign(targets=(ir.Name(id=name),), value=value):
                origin = origins.get(_root(value))
                if origin:
                    origins[name] = origin
                else:
                    origins.pop(name, None)
            case ir.Call(func=ir.Attribute(value=value, attr="numpy"), args=()):
                if (origin := origins.get(_root(value))) is not None:
                    yield origin


def _root(node: ir.Expr) -> str:
    """Return the name of what an expression is a part or a view of, "" where a copy may lie between."""
    match node:
        case ir.Name(id=name):
            return name
        case ir.Subscript(value=value):
            return _root(value)
        case ir.Call(func=ir.Attribute(value=value, attr=attr)) if keeps_kind(attr) and attr not in _MOVES:
            return _root(value)
    return ""
