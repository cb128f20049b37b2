"""Steps of training without an optimizer: `p -= lr * p.grad`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.scopes import path_of


def note_descent(m: State, node: ir.Stmt) -> None:
    """Note a statement that takes a multiple of a gradient from the parameter that it belongs to."""
    for parameter, taken in _taken(node):
        path = path_of(parameter).removesuffix(".data")
        inside = [part for part in ir.walk(taken) if isinstance(part, ir.Expr)]
        if path and not any(isinstance(part, ir.Attribute) and part.attr == "sign" for part in inside):
            own = any(path_of(part).removesuffix(".data") == f"{path}.grad" for part in inside)
            if own or not _partners(m, node, path).isdisjoint(filter(None, map(path_of, inside))):
                m.effects.add(Effect.DESCENT)


def descends(effects: Effects) -> bool:
    """Return whether a loop computes gradients and updates parameters by hand."""
    return effects.happens(Effect.DESCENT) and effects.happens(Effect.BACKWARD, Effect.GRADIENT)


def _taken(node: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield a tensor that a statement changes in place, and what it takes from that."""
    match node:
        case ir.AugAssign(op="-" | "-=", target=target, value=value):
            yield target, value
        case ir.Assign(targets=(ir.Attribute(attr="data") as target,), value=ir.Binary(op="-", right=right)):
            yield target, right
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=owner, attr=method), args=args)):
            if method.endswith("_") and args and ("sub" in method or any(map(_is_negative, args))):
                yield from ((owner, arg.value) for arg in args)
            elif method.endswith("_") and len(args) == 1:
                match args[0].value:
                    case ir.Binary(op="-", right=right):  # p.copy_(p - lr * p.grad)
                        yield owner, right


def _is_negative(arg: ir.Arg) -> bool:
    match arg.value:
        case ir.Unary(op="-") | ir.Binary(left=ir.Unary(op="-")):
            return True
        case ir.Const(value=int() | float() as number):
            return number < 0
    return False


def _partners(m: State, node: ir.Stmt, name: str) -> frozenset[str]:
    """Return the names that the loop around a statement sets beside a name: `for p, g in zip(ps, grads)`."""
    around = m.frame.scope.node or m.analysis.module
    loops = [part for part in ir.path_down(around, node) if isinstance(part, ir.For)]
    parts = ir.walk(loops[-1].target) if loops else ()
    names = {part.id for part in parts if isinstance(part, ir.Name)}
    return frozenset(names - {name}) if name in names else frozenset()
