"""Moves to CUDA by a method that a class of the project defines, which has no `to`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.detectors.receivers import receiver_of
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_MOVE, _OTHER = "cuda", "to"


def moves_own(node: ir.Node, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether one of the `.cuda()` calls in a node is, or may be, that of a class of the project which
    defines `cuda` alone: `.to(device)` would raise there."""
    return any(
        _is_own(call.func.value, place, analysis)
        for call in ir.walk(node)
        if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) and call.func.attr == _MOVE
    )


def _is_own(receiver: ir.Expr, place: CodeContext, analysis: Analysis) -> bool:
    found = receiver_of(receiver, _MOVE, place.scope, analysis)
    if found is None:
        return receiver_of(receiver, _OTHER, place.scope, analysis) == "unknown"
    if found != "unknown":
        return False
    return _is_defined_here(analysis.module) or analysis.names.project.defines_alone(_MOVE, _OTHER)


def _is_defined_here(module: ir.Module) -> bool:
    """Return whether a class of the module without a base defines `cuda` alone."""
    for node in module.body:
        if isinstance(node, ir.ClassDef) and {path_of(arg.value) for arg in node.args} <= {"object"}:
            methods = {part.name for part in node.body if isinstance(part, ir.FunctionDef)}
            if _MOVE in methods and _OTHER not in methods:
                return True
    return False
