"""Places in a function that run only where a parameter has its default."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from xlamig import ir

# Any: values of every type are compared
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip


def needed_default(function: ir.FunctionDef, place: ir.Node) -> str:
    """Return the parameter whose default leads to a place: `n` of `n = n if n else len(x)` in `f(x, n=None)`;
    "" where no test of a default does."""
    defaults = {p.name: p.default.value for p in function.params if isinstance(p.default, ir.Const)}
    for node in ir.walk(function) if defaults else ():
        if not isinstance(node, ir.If | ir.IfExp) or not ir.encloses(node, place):
            continue
        known = _decided(node.test, defaults)
        if known is None:
            continue
        name, holds = known
        taken, other = (node.body, node.orelse) if holds else (node.orelse, node.body)
        if _within(taken, place) and not _within(other, place):
            return name
    return ""


def _decided(test: ir.Expr, defaults: Mapping[str, object]) -> tuple[str, bool] | None:
    """Return the parameter that a test asks for alone, and the outcome for its default."""
    match test:
        case ir.Name(id=name) if name in defaults:
            return name, bool(defaults[name])
        case ir.Unary(op="not", operand=operand):
            known = _decided(operand, defaults)
            return None if known is None else (known[0], not known[1])
        case ir.Compare(left=ir.Name(id=name), ops=(op,), comparators=(ir.Const(value=value),)):
            if name in defaults and op in _COMPARED:
                try:
                    return name, _COMPARED[op](defaults[name], value)
                except TypeError:  # `None > 0`
                    return None
    return None


def _within(part: ir.Expr | ir.Block, place: ir.Node) -> bool:
    return any(ir.encloses(node, place) for node in (part if isinstance(part, tuple) else (part,)))
