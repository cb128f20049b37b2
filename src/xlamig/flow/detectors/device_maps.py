"""The device on which a `device_map` puts a whole model."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.detectors.ranks import is_rank
from xlamig.flow.model.scopes import Scope
from xlamig.flow.model.site import Analysis


def whole_model_devices(node: ir.Expr, scope: Scope) -> Iterator[ir.Expr]:
    """Yield what `{"": device}` gives for the whole model, where it is written out or bound to a name."""
    match node:
        case ir.Dict(keys=(ir.Const(value=""),), values=(device,)):
            yield device
        case ir.Name(id=name):
            for binding in scope.lookup(name):
                if isinstance(binding.value, ir.Dict):
                    yield from whole_model_devices(binding.value, scope)
        case ir.IfExp(body=body, orelse=orelse):
            yield from whole_model_devices(body, scope)
            yield from whole_model_devices(orelse, scope)


def is_gpu_number(node: ir.Expr, scope: Scope, analysis: Analysis) -> bool:
    """Return whether a device is given as a number: one that is written out, or a rank."""
    if isinstance(node, ir.Const):
        return type(node.value) is int and node.value >= 0
    return is_rank(node, scope, analysis)
