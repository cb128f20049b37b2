"""The only call of a function of the module, with the function that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from xlamig import ir
from xlamig.flow.model.by_kind import function_around, of_kind
from xlamig.flow.model.scopes import path_of
from xlamig.per_file import per_file

Given = Mapping[str, ir.Expr]
"""The arguments of a call by the parameters that get them; `self` of a method gets none."""


def only_call(module: ir.Module, function: ir.Node | None) -> tuple[Given, ir.Node] | None:
    """Return the arguments of the only call of a function, and the function or module around it; None where
    there are several or none."""
    if not isinstance(function, ir.FunctionDef):
        return None
    calls = calls_named(module, function.name)
    if len(calls) != 1:
        return None
    (call,) = calls
    caller = function_around(module, call) or module
    return (arguments(call, function), caller) if caller is not function else None


def calls_named(module: ir.Module, name: str) -> Sequence[ir.Call]:
    """Return the calls of a module of what has this name as its last word."""
    return _calls_by_name(module).get(name, ())


@per_file
@lru_cache
def _calls_by_name(module: ir.Module) -> Mapping[str, Sequence[ir.Call]]:
    """Return the calls of a module by the last word of what they call."""
    found: dict[str, list[ir.Call]] = {}
    for call in of_kind(module, ir.Call):
        found.setdefault(path_of(call.func).rpartition(".")[2], []).append(call)
    return found


def passed_default(module: ir.Module, function: ir.Node | None, parameter: str) -> ir.Expr | None:
    """Return the default of the caller's parameter that the only call of a function passes on as it is."""
    found = only_call(module, function)
    if found is None or not isinstance(found[1], ir.FunctionDef):
        return None
    given, caller = found[0].get(parameter), found[1]
    if not isinstance(given, ir.Name) or _assigns_before(caller, given):
        return None
    return next((param.default for param in caller.params if param.name == given.id), None)


def _assigns_before(function: ir.FunctionDef, use: ir.Name) -> bool:
    """Return whether a function may give a name another value before a use."""
    for node in ir.walk(function):
        match node:
            case ir.Assign(targets=targets) if not ir.encloses(node, use):
                found = targets
            case ir.AugAssign(target=target) | ir.For(target=target):
                found = (target,)
            case _:
                continue
        parts = (part for target in found for part in ir.walk(target))
        if node.start < use.start and any(isinstance(part, ir.Name) and part.id == use.id for part in parts):
            return True
    return False


def arguments(call: ir.Call, function: ir.FunctionDef) -> Given:
    """Return the arguments of a call of a function of the module or of a method."""
    params = [param.name for param in function.params]
    bound = params[:1] == ["self"] and isinstance(call.func, ir.Attribute)
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    given = dict(zip(params[bound:], plain, strict=False))
    return given | {arg.keyword: arg.value for arg in call.args if arg.keyword is not None}
