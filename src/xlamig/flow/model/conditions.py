"""Tests of options, in a form that outlives the module's tree."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from xlamig import ir
from xlamig.flow.model.known import short
from xlamig.flow.model.option_codes import Codes, codes_of, is_constant
from xlamig.flow.model.scopes import Scope, path_of

Kind = Literal["truth", "compare", "contains", "drawn", "main", "cuda", "not", "and", "or", "unknown"]
INFINITY = "inf"
MAIN = "__main__"
"""The name of a module that is run itself, and the option, as it were, that one is."""

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DRAWS = re.compile(r"\brandom\b|\brand\b|uniform")


class Condition(NamedTuple):
    """A test: of the truth of an option with these codes; of how it compares with a constant, or one of
    several; whether a string is in it; whether a number drawn from [0, 1) is below it; whether CUDA is there,
    or is asked for."""

    kind: Kind
    codes: Codes = frozenset()
    op: str = ""
    value: object = None
    parts: tuple[Condition, ...] = ()
    text: str = ""


def condition_of(test: ir.Expr, scope: Scope, text: str) -> Condition:
    """Return the condition that a test states; `text` is that of the module."""
    return _condition(test, scope)._replace(text=short(text[test.start : test.end]))


def asks_for_cuda(test: ir.Expr, scope: Scope) -> bool:
    """Return whether a test holds only where CUDA is there, or something is asked to use it."""
    match test:
        case ir.Bool(op=op, values=values):
            return (any if op == "and" else all)(asks_for_cuda(value, scope) for value in values)
        case ir.Name(id=name):
            found = [binding.value for binding in scope.lookup(name)]
            return len(found) == 1 and isinstance(found[0], ir.Call) and asks_for_cuda(found[0], scope)
        case ir.Compare(left=left, ops=(">" | ">=",), comparators=(ir.Const(),)):
            return isinstance(left, ir.Call) and path_of(left.func).endswith("cuda.device_count")
        case ir.Compare(left=left, ops=("==" | "in",), comparators=(right,)):
            texts = (part.value for part in (left, right) if isinstance(part, ir.Const))
            return any(isinstance(text, str) and text.startswith("cuda") for text in texts)
        case ir.Call(func=func):
            return path_of(func).endswith("cuda.is_available")
    return isinstance(test, ir.Attribute) and test.attr == "is_cuda"


def _condition(test: ir.Expr, scope: Scope) -> Condition:
    match test:
        case ir.Unary(op="not", operand=operand):
            return Condition("not", parts=(_condition(operand, scope),))
        case ir.Bool(op="and" | "or" as op, values=values):
            return Condition(op, parts=tuple(_condition(value, scope) for value in values))
        case ir.Walrus(value=value):
            return _condition(value, scope)
        case ir.Compare(left=ir.Name(id="__name__"), ops=("==",), comparators=(ir.Const(value=name),)):
            return Condition("main") if name == MAIN else Condition("unknown")
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
    return Condition("unknown") if all(map(is_constant, condition.codes)) else condition


def _compared(left: ir.Expr, op: str, right: ir.Expr, scope: Scope) -> Condition:
    match right:
        case ir.Const(value=value) if op not in ("in", "not in"):
            return _about(Condition("compare", codes_of(left, scope), op, value))
        case ir.Sequence(elements=elements) if op in ("in", "not in"):
            values = tuple(element.value for element in elements if isinstance(element, ir.Const))
            if len(values) == len(elements):
                return _about(Condition("compare", codes_of(left, scope), op, values))
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
