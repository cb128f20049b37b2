"""Tests of options, in a form that outlives the module's tree."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from xlamig import ir
from xlamig.flow.model.asked import variable_asked, variable_key
from xlamig.flow.model.class_constants import member_text
from xlamig.flow.model.cuda_questions import asks_for_cuda
from xlamig.flow.model.known import short
from xlamig.flow.model.option_codes import CUDA, NO_CUDA, Codes, codes_of, is_constant, unset_key
from xlamig.flow.model.scopes import Scope, path_of

Kind = Literal[
    "truth", "compare", "contains", "drawn", "main", "cuda", "chosen", "not", "and", "or", "unknown"
]
INFINITY = "inf"
MAIN = "__main__"
"""The name of a module that is run itself, and the option, as it were, that one is."""

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DRAWS = re.compile(r"\brandom\b|\brand\b|uniform")


class Condition(NamedTuple):
    """A test: of the truth of an option with these codes; of how it compares with a constant, or one of
    several; whether a string is in it; whether a number drawn from [0, 1) is below it; whether something is
    on CUDA; whether the key `value` is chosen from the table `op`. `other` is whether the program does
    something else where it does not hold."""

    kind: Kind
    codes: Codes = frozenset()
    op: str = ""
    value: ir.Constant | tuple[ir.Constant, ...] = None
    parts: tuple[Condition, ...] = ()
    text: str = ""
    other: bool = False


Conditions = tuple[tuple[Condition, bool], ...]
"""Conditions that hold or, with False, do not."""


def count_of(loop: ir.For) -> ir.Expr | None:
    """Return the number of iterations that a loop asks for: `n` in `for _ in range(n)`."""
    match loop.iter:
        case ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=count, keyword=None, star=""),)):
            return count
    return None


def condition_of(test: ir.Expr, scope: Scope, text: str) -> Condition:
    """Return the condition that a test states; `text` is that of the module."""
    return _condition(test, scope)._replace(text=short(text[test.start : test.end]))


def _condition(test: ir.Expr, scope: Scope) -> Condition:
    if asks_for_cuda(test, scope):
        return Condition("cuda")
    if isinstance(test, ir.Compare) and (key := unset_key(test, scope)):
        return Condition("truth", frozenset({key}))
    match test:
        case ir.Unary(op="not", operand=operand):
            return Condition("not", parts=(_condition(operand, scope),))
        case ir.Bool(op="and" | "or" as op, values=values):
            return Condition(op, parts=tuple(_condition(value, scope) for value in values))
        case ir.Walrus(value=value):
            return _condition(value, scope)
        case ir.Compare(left=ir.Name(id="__name__"), ops=("==",), comparators=(ir.Const(value=name),)):
            return Condition("main") if name == MAIN else Condition("unknown")
        case ir.Compare(ops=(op, *_)) if name := variable_asked(test):
            is_set = Condition("truth", frozenset({variable_key(name)}))
            return is_set if op == "in" else Condition("not", parts=(is_set,))
        case ir.Compare(left=ir.Const(value=value), ops=("in" | "not in" as op,), comparators=(right,)):
            return _about(Condition("contains", codes_of(right, scope), op, value))
        case ir.Compare(left=ir.Const() as left, ops=(op,), comparators=(right,)):
            return _compared(right, _MIRRORED.get(op, op), left, scope)
        case ir.Compare(left=left, ops=("<" | "<=" as op,), comparators=(right,)) if _is_drawn(left, scope):
            return _about(Condition("drawn", codes_of(right, scope), op))
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            return _compared(left, op, right, scope)
        case ir.Compare():
            return Condition("unknown")
    return _about(Condition("truth", codes_of(test, scope)))


def _about(condition: Condition) -> Condition:
    """Return the condition if it is about an option, and not about constants alone."""
    known = all(map(is_constant, condition.codes)) and condition.codes.isdisjoint({CUDA, NO_CUDA})
    return Condition("unknown") if known else condition


def _compared(left: ir.Expr, op: str, right: ir.Expr, scope: Scope) -> Condition:
    match right:
        case ir.Const(value=value) if op not in ("in", "not in"):
            return _about(Condition("compare", codes_of(left, scope), op, value))
        case ir.Sequence(elements=elements) if op in ("in", "not in"):
            values = tuple(element.value for element in elements if isinstance(element, ir.Const))
            if len(values) == len(elements):
                return _about(Condition("compare", codes_of(left, scope), op, values))
        case ir.Attribute() if (member := member_text(right, scope)) is not None:
            return _about(Condition("compare", codes_of(left, scope), op, member))
        case _ if _is_infinity(right):
            return _about(Condition("compare", codes_of(left, scope), op, INFINITY))
    return Condition("unknown")


def _is_infinity(node: ir.Expr) -> bool:
    """`inf`, `math.inf`, `float("inf")`"""
    match node:
        case ir.Name(id="inf") | ir.Attribute(attr="inf"):
            return True
        case ir.Call(func=ir.Name(id="float"), args=(ir.Arg(value=ir.Const(value="inf")),)):
            return True
    return False


def _is_drawn(node: ir.Expr, scope: Scope) -> bool:
    """Return whether an expression is a random number, or a name for one."""
    if isinstance(node, ir.Call):
        return _DRAWS.search(path_of(node.func)) is not None
    values = [binding.value for binding in scope.lookup(node.id)] if isinstance(node, ir.Name) else []
    return bool(values) and all(isinstance(value, ir.Call) and _is_drawn(value, scope) for value in values)
