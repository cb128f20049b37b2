"""The number of steps between two for which a test of the step holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue, Mark
from xlamig.flow.interp.frames import Frame
from xlamig.flow.model.frequency_guards import FrequencyGuards
from xlamig.flow.model.scopes import path_of


def runs_seldom(guards: FrequencyGuards, test: ir.Expr, frame: Frame, taken: bool) -> bool:
    """Return whether a branch runs in some steps only, by what its test is or by a flag that a caller set."""
    if asks_each_step(test, frame.env):
        return False
    return guards.lowers_frequency(test, frame.scope, taken) or _asks_flag(test, frame.env, taken)


def _asks_flag(test: ir.Expr, env: Mapping[str, AbstractValue], taken: bool) -> bool:
    match test:
        case ir.Unary(op="not", operand=operand):
            return _asks_flag(operand, env, not taken)
        case ir.Bool(op="and", values=values):
            return taken and any(_asks_flag(value, env, taken) for value in values)
        case ir.Name(id=name):
            flag = env.get(name) if taken else None
            return flag is not None and flag.trait is Mark.SELDOM
    return False


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
