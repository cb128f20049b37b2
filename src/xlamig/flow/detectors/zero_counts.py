"""Numbers of GPUs that only multiply, with 1 in the place of 0: `batch_size * max(len(gpus), 1)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from xlamig import ir
from xlamig.flow.detectors.consumers import is_assigned
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_KEEPS = frozenset({"range", "list", "tuple", "len", "sorted"})
_MOST = 2  # variables that are followed
Use = Literal["factor", "text", "other"]


def zero_replaced(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "zero-replaced": the number, or the list of so many GPUs, is a factor with 1 in the place of
    0, and at most text otherwise."""
    if name not in table.names("cuda-tests", "counts"):
        return {}
    top = place.scope.node or analysis.module
    return {"zero-replaced": "1"} if _use_of(node, top, _MOST) == "factor" else {}


def _use_of(node: ir.Node, top: ir.Node, followed: int) -> Use:
    """Return what becomes of a number or of a list of so many."""
    path = list(ir.path_down(top, node))
    inner = node
    for i in range(len(path) - 1, -1, -1):
        above = path[i]
        match above:
            case ir.Call(func=ir.Name(id="max"), args=args) if _has_one(arg.value for arg in args):
                return "factor" if i and _multiplies(path[i - 1], above) else "other"
            case ir.Bool(op="or", values=(*_, last)) if last is not inner and _has_one((last,)):
                return "factor" if i and _multiplies(path[i - 1], above) else "other"
            case ir.Call(func=ir.Attribute(value=ir.Const(value=str()), attr="join")) | ir.FString():
                return "text"
            case ir.Call(func=func) if path_of(func) not in _KEEPS:
                return "other"
            case ir.Call() | ir.Arg() | ir.Comprehension() | ir.Generator():
                pass
            case ir.Assign(targets=(ir.Name(id=name) as target,)) if followed:
                return _use_of_name(name, target, top, followed - 1)
            case _:
                return "other"
        inner = above
    return "other"


def _use_of_name(name: str, target: ir.Name, top: ir.Node, followed: int) -> Use:
    reads = [
        part
        for part in ir.walk(top)
        if isinstance(part, ir.Name) and part.id == name and part.start > target.start
    ]
    uses = {
        _use_of(part, top, followed)
        for part in reads
        if not is_assigned(part, [*ir.path_down(top, part)][-1])
    }
    return "factor" if "factor" in uses and uses <= {"factor", "text"} else "other"


def _has_one(values: Iterable[ir.Expr]) -> bool:
    return any(isinstance(value, ir.Const) and value.value == 1 for value in values)


def _multiplies(above: ir.Node, factor: ir.Node) -> bool:
    match above:
        case ir.Binary(op="*"):
            return True
        case ir.AugAssign(op="*" | "*=", value=value):
            return value is factor
    return False
