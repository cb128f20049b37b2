"""The values of expressions while a variable of the environment is not set."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from xlamig import ir
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_READS = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_VARIABLES = frozenset({"os.environ", "environ"})
# Any: constants of Python of several types
_SAME: Mapping[str, Callable[[Any], object]] = {"bool": bool, "int": int, "float": float, "str": str}
_METHODS = frozenset({"lower", "upper", "strip"})
# Any: as above
_COMPARES: Mapping[str, Callable[[Any, Any], object]] = {
    "==": operator.eq, "!=": operator.ne, "is": operator.is_, "is not": operator.is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le,
}  # fmt: skip
_WORD = re.compile(r"\w*")
ENVIRONMENT = "environ"
"""The section of settings, as it were, that variables of the environment are."""
WHILE_UNSET = "|"
"""Between the name of a variable and the code of what an expression of it is while it is not set."""


class Unset(NamedTuple):
    """A variable of the environment, and the value of an expression while it is not set."""

    variable: str
    value: object


class _Unknown(Exception):
    pass


def unset_value(node: ir.Expr, scope: Scope) -> Unset | None:
    """Return the value of an expression of one variable of the environment while that is not set:
    `os.environ.get("DEBUG", "0") == "1"`, also in a function that only returns it. None for another
    expression, and for a variable that systems and launchers set."""
    variables: set[str] = set()
    try:
        value = _value(node, scope, {}, variables)
    except (_Unknown, TypeError, ValueError, AttributeError):
        return None
    if len(variables) != 1 or not _is_plain(value):
        return None
    (name,) = variables
    return None if table.name_like("set-variable").search(name) else Unset(name, value)


def _is_plain(value: object) -> bool:
    """Return whether a value says something is off or on, or is a word."""
    return value in (None, 0, 1) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _value(node: ir.Expr, scope: Scope, given: Mapping[str, object], found: set[str]) -> object:
    """Return the value of an expression of constants, parameters that are `given` and variables, which are
    `found`."""

    def of(part: ir.Expr) -> object:
        return _value(part, scope, given, found)

    match node:
        case ir.Const(value=value):
            return value
        case ir.Name(id=name) if name in given:
            return given[name]
        case ir.Sequence(elements=elements):
            return tuple(map(of, elements))
        case ir.Unary(op="not", operand=operand):
            return not of(operand)
        case ir.Compare(left=left, ops=("in" | "not in" as op,), comparators=(right,)) if (
            path_of(right) in _VARIABLES
        ):
            found.add(str(of(left)))
            return op == "not in"
        case ir.Compare(left=left, ops=(op,), comparators=(right,)) if op in _COMPARES:
            return _COMPARES[op](of(left), of(right))
        case ir.Call(func=func, args=(ir.Arg(value=name), *rest)) if path_of(func) in _READS:
            found.add(str(of(name)))
            return of(rest[0].value) if rest else None
        case ir.Call(func=ir.Name(id=called), args=(ir.Arg(value=value),)) if called in _SAME:
            return _SAME[called](of(value))
        case ir.Call(func=ir.Attribute(value=value, attr=method), args=()) if method in _METHODS:
            return getattr(of(value), method)()
        case ir.Call(args=(ir.Arg(value=ir.Const(value=str(name))), *_)) if not given and name.isupper():
            return _returned(node, scope, found)
    raise _Unknown


def _returned(node: ir.Call, scope: Scope, found: set[str]) -> object:
    """Return what a function of the module that only returns a value does so for constants."""
    behind = function_behind(node, scope)
    if behind is None or any(arg.star for arg in node.args):
        raise _Unknown
    function, inner = behind
    last = function.body[-1]
    if len(function.body) > 2 or not isinstance(last, ir.Return) or last.value is None:
        raise _Unknown
    given: dict[str, object] = {
        param.name: param.default.value for param in function.params if isinstance(param.default, ir.Const)
    }
    for param, arg in zip(function.params, (arg for arg in node.args if not arg.keyword), strict=False):
        given[param.name] = _value(arg.value, scope, {}, found)
    for arg in node.args:
        if arg.keyword:
            given[arg.keyword] = _value(arg.value, scope, {}, found)
    return _value(last.value, inner, given, found)
