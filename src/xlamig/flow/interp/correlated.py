"""Correlated tests: `if x is None:` after `if x is not None: n = x[0]` finds what the other branch left."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import (
    BOOL,
    FOREIGN,
    NONE,
    NUMBER,
    OPTION,
    TEXT,
    TOP,
    AbstractValue,
    join_branches,
)
from xlamig.flow.interp.frames import Answers, Choice, Env, Loop
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of

_SHARED = frozenset(map(id, (TOP, NONE, NUMBER, BOOL, TEXT, FOREIGN, OPTION)))


def answers(test: ir.Expr, holds: bool) -> Answers:
    """Return what a test says of names, if it has this outcome."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return answers(operand, not holds)
        case ir.Bool(op=op, values=values) if (op == "and") == holds:
            return {
                question: answer for value in values for question, answer in answers(value, holds).items()
            }
        case ir.Name() | ir.Attribute() if name := path_of(test):
            return {(name, "true"): holds} | ({(name, "none"): False} if holds else {})
        case ir.Compare(left=left, ops=(op,), comparators=(ir.Const(value=value),)) if name := path_of(left):
            if op in ("is", "is not", "==", "!="):
                return _of_comparison(name, value, holds == (op in ("is", "==")))
    return {}


def _of_comparison(name: str, value: object, equal: bool) -> Answers:
    if value is None:
        return {(name, "none"): equal} | ({(name, "true"): False} if equal else {})
    return {(name, f"== {value!r}"): equal} | ({(name, "none"): False} if equal else {})


def remember(state: State, node: ir.If, before: Env, ends: tuple[Env, Env]) -> None:
    """Remember what either branch left in names, and what the names held that the test asks about."""
    both = answers(node.test, True), answers(node.test, False)
    names = {name for found in both for name, _ in found}
    if not names:
        return
    after, (taken, other) = state.env, ends
    left = {
        name: (joined, (taken[name], other[name]))
        for name, joined in after.items()
        if id(joined) not in _SHARED and name in taken and name in other and taken[name] is not other[name]
    }
    if left:
        choices = state.frame.choices
        choices.pop(node.start, None)  # the latest is the last one
        choices[node.start] = Choice(both, {name: before.get(name) for name in names}, left)


def recall(state: State, test: ir.Expr, holds: bool) -> None:
    """Narrow what an earlier `if` left, where this outcome of a test excludes one of its branches."""
    known = answers(test, holds) if state.frame.choices else {}
    if not known:
        return
    for start, choice in reversed(state.frame.choices.items()):
        excluded = [any(known.get(q, a) != a for q, a in way.items()) for way in choice.answers]
        if excluded[0] == excluded[1] or _assigned(state, choice, start, test):
            continue
        for name, (joined, ways) in choice.left.items():
            if state.env.get(name) is joined:
                state.put(name, ways[excluded[0]])


def carried(state: State, loop: Loop, before: Env, first: Env) -> Setting[dict[int, Choice]]:
    """Add, while an iteration runs, what a name holds by the answer of a test that the loop leaves alone: the
    branch of an `if` before the loop left it, or the same branch in the iteration before."""
    node, choices = loop.node, state.frame.choices
    inner = {
        name: choice
        for start, choice in loop.choices.items()
        if node.start < start < node.end
        for name, (joined, _) in choice.left.items()
        if first.get(name) is joined and name in state.env
    }
    if not inner:
        return Setting(state.frame, "choices", choices)
    found = dict(choices)
    for choice in choices.values():
        left: dict[str, tuple[AbstractValue, tuple[AbstractValue, AbstractValue]]] = {}
        for name in inner.keys() & choice.left.keys():
            (joined, ways), again = choice.left[name], inner[name]
            if before.get(name) is joined and again.answers == choice.answers:
                others = again.left[name][1]
                either = join_branches(ways[0], others[0]), join_branches(ways[1], others[1])
                left[name] = state.env[name], either
        if left and all(state.env.get(name) is value for name, value in choice.tested.items()):
            found[node.start] = Choice(choice.answers, choice.tested, left)
    return Setting(state.frame, "choices", found)


def _assigned(state: State, choice: Choice, start: int, test: ir.Expr) -> bool:
    """Return whether a name that an `if` asked about may have been assigned between it and a later test."""
    around = (loop.node for loop in state.loops if loop.base == state.base)
    end = next((node.end for node in around if start < node.start <= test.start < node.end), test.start)
    bindings = state.frame.scope.bindings
    return any(
        state.env.get(name) is not value or any(start <= b.start < end for b in bindings.get(name, ()))
        for name, value in choice.tested.items()
    )
