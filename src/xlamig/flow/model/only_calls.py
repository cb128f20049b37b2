"""The only call of a function of the module, with the function that makes it."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import path_of

Given = Mapping[str, ir.Expr]
"""The arguments of a call by the parameters that get them; `self` of a method gets none."""


def only_call(module: ir.Module, function: ir.Node) -> tuple[Given, ir.Node] | None:
    """Return the arguments of the only call of a function, and the function or module around it; None where
    there are several or none."""
    if not isinstance(function, ir.FunctionDef):
        return None
    name = function.name
    calls = [c for c in of_kind(module, ir.Call) if path_of(c.func).rpartition(".")[2] == name]
    if len(calls) != 1:
        return None
    (call,) = calls
    around = [f for f in of_kind(module, ir.FunctionDef) if f.start <= call.start < f.end]
    caller = max(around, key=lambda one: one.start, default=module)
    return (arguments(call, function), caller) if caller is not function else None


def arguments(call: ir.Call, function: ir.FunctionDef) -> Given:
    """Return the arguments of a call of a function of the module or of a method."""
    params = [param.name for param in function.params]
    bound = params[:1] == ["self"] and isinstance(call.func, ir.Attribute)
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    given = dict(zip(params[bound:], plain, strict=False))
    return given | {arg.keyword: arg.value for arg in call.args if arg.keyword is not None}
