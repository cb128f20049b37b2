"""The number of steps between two for which a test of the step holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue, Mark
from xlamig.flow.interp.frames import STEPS, Frame, Loop
from xlamig.flow.model.counter_tests import seldom_by_counter
from xlamig.flow.model.frequency_guards import FrequencyGuards
from xlamig.flow.model.scopes import path_of


def runs_seldom(
    guards: FrequencyGuards, test: ir.Expr, frame: Frame, loops: Sequence[Loop], taken: bool
) -> bool:
    """Return whether a branch runs in some steps only, by what its test is or by what a caller gave: a flag,
    or the number of the step."""
    if asks_each_step(test, frame.env):
        return False
    if guards.lowers_frequency(test, frame.scope, taken):
        return True
    return _asks_caller(test, frame.env, next((loop for loop in loops if loop.kind in STEPS), None), taken)


def _asks_caller(test: ir.Expr, env: Mapping[str, AbstractValue], outer: Loop | None, taken: bool) -> bool:
    match test:
        case ir.Unary(op="not", operand=operand):
            return _asks_caller(operand, env, outer, not taken)
        case ir.Bool(op="and", values=values):
            return taken and any(_asks_caller(value, env, outer, taken) for value in values)
        case ir.Name(id=name) if taken and (flag := env.get(name)) is not None:
            return flag.trait is Mark.SELDOM
    return outer is not None and seldom_by_counter(test, partial(_counts_steps, env, outer)) is taken


def _counts_steps(env: Mapping[str, AbstractValue], outer: Loop, name: ir.Name) -> bool:
    """Return whether a name holds the number of the step in the outermost loop of steps, whose iterations are
    no parts of others: `if t == 0` of a decoder holds in all of them."""
    value = env.get(name.id)
    if value is None or value.kind != "number":
        return False
    return value.cause == "step-counter" and value.loop == outer.id


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
