"""State dicts that end on the CPU: by an option of what gives them, or because a loop copies every value."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, AbstractValue, sequence
from xlamig.flow.interp.frames import Env, Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_WHOLE = ("items", "keys")


def offloads(m: State, node: ir.Expr) -> bool:
    """Return whether a context manager lets every `state_dict()` in it return copies on the CPU."""
    if not isinstance(node, ir.Call):
        return False
    return m.names.dotted(node.func, m.frame.scope) in table.names("offloading", "contexts") and _asks(
        m, node
    )


def offloaded(m: State, name: str, node: ir.Call) -> AbstractValue | None:
    """Return the copies on the CPU that a function of torch makes of a state; None for another call."""
    if name not in table.names("offloading", "getters") or not _asks(m, node):
        return None
    state = AbstractValue("mapping", element=AbstractValue("tensor", "host", sure=LIKELY))
    return sequence((state, state)) if name in table.names("offloading", "pairs") else state


def _asks(m: State, node: ir.Call) -> bool:
    """Return whether an argument of a call is made with an option that asks for copies on the CPU."""
    return any(_is_option(m, arg.value) for arg in node.args)


def _is_option(m: State, node: ir.Expr) -> bool:
    match node:
        case ir.Name() | ir.Attribute():
            bound = m.frame.scope.find(path_of(node))
            made = [binding.value for binding in bound]
            return bool(made) and all(isinstance(one, ir.Call) and _is_option(m, one) for one in made)
        case ir.Call(args=args):
            named = table.names("offloading", "options")
            asked = (arg.value for arg in args if arg.keyword in named)
            return any(isinstance(value, ir.Const) and value.value is True for value in asked)
    return False


def replaced_values(loop: Loop, last: Env) -> Env:
    """Return the mapping all of whose values the loop replaces, as an iteration leaves it:
    `for name, value in state.items(): state[name] = value.cpu()`."""
    node = loop.node
    if not isinstance(node, ir.For):
        return {}
    path = path_of(_gone_through(node.iter))
    names = {n.id for n in ir.walk(node.target) if isinstance(n, ir.Name)}
    for statement in node.body:
        match statement:
            case ir.Assign(targets=(ir.Subscript(value=owner, index=(ir.Name(id=key),)),)):
                held = last.get(path) if path and path_of(owner) == path and key in names else None
                if held is not None and held.kind == "mapping":
                    return {path: held}
    return {}


def _gone_through(node: ir.Expr) -> ir.Expr:
    """Return `d` of `d.items()`, `list(d.keys())` and `d`."""
    match node:
        case ir.Call(func=ir.Name(id="list" | "tuple" | "sorted"), args=(first,)):
            return _gone_through(first.value)
        case ir.Call(func=ir.Attribute(value=owner, attr=name), args=()) if name in _WHOLE:
            return owner
    return node
