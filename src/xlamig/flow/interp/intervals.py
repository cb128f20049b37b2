"""The number of steps between two for which a test of the step holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.model.scopes import path_of


def asks_each_step(test: ir.Expr, env: Mapping[str, AbstractValue]) -> bool:
    """Return whether a parameter or variable that a test takes as the interval is 1 in this call."""
    values = (env.get(path_of(node)) for node in _intervals_in(test))
    return any(value is not None and value.kind == "number" and value.const == 1 for value in values)


def _intervals_in(test: ir.Expr) -> Iterator[ir.Expr]:
    """Yield what may be the interval: `n` of `step % n == 0`, and the arguments of `should_log(step, n)`."""
    for node in ir.walk(test):
        match node:
            case ir.Binary(op="%", right=right):
                yield right
            case ir.Call(args=args):
                yield from (arg.value for arg in args)
