"""The keywords that a function gets as `**kwargs`, known where the call writes them out."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import NONE, AbstractValue
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of


def _held(m: State, node: ir.Expr) -> dict[str, AbstractValue] | None:
    """Return all keywords in `**kwargs` of the function that runs; None for anything else, and where the
    call may give more."""
    bound = m.frame.scope.bindings.get(node.id, ()) if isinstance(node, ir.Name) else ()
    function = m.frame.scope.node
    if [one.kind for one in bound] != ["param"] or not isinstance(function, ir.FunctionDef):
        return None
    known = m.env.get(path_of(node))
    starred = any(param.kind == "**" and param.name == path_of(node) for param in function.params)
    if not starred or known is None or known.fields is None or known.loose:
        return None
    return dict(known.fields)


def _put(m: State, node: ir.Expr, held: dict[str, AbstractValue]) -> None:
    m.put(path_of(node), m.env[path_of(node)].replace(fields=held))


def take_keyword(m: State, owner: ir.Expr, name: str, args: Args) -> AbstractValue | None:
    """Return what `kwargs.pop("mode", default)` gives, and forget the keyword; None for another mapping."""
    held = _held(m, owner)
    key = args.positional[0].const if args.positional else None
    if held is None or not isinstance(key, str):
        return None
    value = held.get(key) or args.get(1, "default") or NONE
    if name == "pop":
        held.pop(key, None)
    elif name == "setdefault":
        held[key] = value
    _put(m, owner, held)
    return value


def has_keyword(m: State, test: ir.Expr) -> bool | None:
    """Return the outcome of `"mode" in kwargs`; None for other tests."""
    match test:
        case ir.Compare(left=ir.Const(value=str(key)), ops=("in" | "not in" as op,), comparators=(owner,)):
            held = _held(m, owner)
            return None if held is None else (key in held) == (op == "in")
    return None


def delete(m: State, targets: Iterable[ir.Expr]) -> None:
    """Run `del name, kwargs["mode"]`."""
    for target in targets:
        m.env.pop(path_of(target), None)
        match target:
            case ir.Subscript(value=owner, index=(ir.Const(value=str(key)),)) if held := _held(m, owner):
                held.pop(key, None)
                _put(m, owner, held)
