"""Devices that stand as the default of a parameter, of an option or of an entry in a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from xlamig import ir
from xlamig.facts import DeviceChoice
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

DEFAULTED = frozenset({"get", "getattr", "getenv", "pop", "setdefault"})
"""Calls that look something up by a name, with a default."""
_REPLACED = {"replaced": "true"}  # a proof: without CUDA the function does not use the default
_OPTIONS = frozenset({"Option", "Argument", "Parameter"})


def option_default(node: ir.Expr) -> ir.Expr:
    """Return the default of an option that a parameter has as its own: `device=typer.Option("cuda")`."""
    if isinstance(node, ir.Call) and path_of(node.func).rpartition(".")[2] in _OPTIONS:
        given = [arg.value for arg in node.args if arg.keyword == "default"]
        given += [arg.value for arg in node.args[:1] if arg.keyword is None and not arg.star]
        return given[0] if given else node
    return node


def default_of_key(node: ir.Call, named: re.Pattern[str]) -> ir.Expr | None:
    """Return the default where a call looks up a name that `named` finds: `settings.get("device", "cuda")`,
    `os.getenv("MODEL_DEVICE", "cuda")`, `getattr(args, "device", "cuda")`."""
    given = node.args[1:] if path_of(node.func) == "getattr" else node.args
    match given:
        case [ir.Arg(value=ir.Const(value=str(name)), star=""), ir.Arg(value=default), *_] if named.search(
            name
        ):
            return default
    return None


def as_replaced(
    found: list[DeviceChoice], param: ir.Param, place: CodeContext, analysis: Analysis
) -> Iterator[DeviceChoice]:
    """Yield the facts of a default; where the function itself replaces it without CUDA, with that proof,
    or not at all if that selection is a fact too."""
    function = place.scope.node
    body = function.body if isinstance(function, ir.FunctionDef) else ()
    statement = next((s for s in body if _replaces(s, param, analysis)), None)
    if statement is None:
        yield from found
    elif not any(_is_device_literal(value) for value in _set_to(statement)):
        yield from (replace(fact, proofs={**fact.proofs, **_REPLACED}) for fact in found)


def _replaces(node: ir.Stmt, param: ir.Param, analysis: Analysis) -> bool:
    """`device = device if torch.cuda.is_available() else "cpu"`, also below `if device == "cuda":`"""
    if "cuda.is_available()" not in analysis.source(node):
        return False
    asked = _compared(node.test, param.name) if isinstance(node, ir.If) else None
    default = param.default.value if isinstance(param.default, ir.Const) else None
    return asked in (None, default) and any(_sets(inner, param.name) for inner in _here(node))


def _compared(test: ir.Expr, name: str) -> object:
    """Return the constant that a test compares a name with, if it does."""
    for node in ir.walk(test):
        match node:
            case ir.Compare(left=ir.Name(id=left), comparators=(ir.Const(value=value),)) if left == name:
                return value
    return None


def _here(node: ir.Stmt) -> ir.Block:
    return node.body if isinstance(node, ir.If) else (node,)


def _sets(node: ir.Stmt, name: str) -> bool:
    targets = node.targets if isinstance(node, ir.Assign) else ()
    return any(isinstance(target, ir.Name) and target.id == name for target in targets)


def _set_to(node: ir.Stmt) -> Iterator[ir.Expr]:
    return (inner.value for inner in _here(node) if isinstance(inner, ir.Assign))


def _is_device_literal(node: ir.Expr) -> bool:
    """Return whether a device is selected by literals: `"cpu"`, or `"cuda" if ... else "cpu"`."""
    return isinstance(node, ir.Const) or any(
        isinstance(n, ir.Const) and str(n.value).startswith("cuda") for n in ir.walk(node)
    )


def is_read(param: ir.Param, place: CodeContext) -> bool:
    """Return whether a function's own body reads its parameter; one of a lambda counts as read."""
    function = place.scope.node
    if not isinstance(function, ir.FunctionDef):
        return True
    nodes = (node for statement in function.body for node in ir.walk(statement))
    return any(isinstance(node, ir.Name) and node.id in (param.name, "locals") for node in nodes)
