"""Numbers of GPUs whose 0 does no harm: with 1 in its place, `batch_size * max(len(gpus), 1)`, or where they
only decide whether a model is wrapped for several GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from xlamig import ir
from xlamig.flow.detectors.branch_uses import LOGS
from xlamig.flow.detectors.consumers import is_assigned
from xlamig.flow.detectors.gpu_counts import wraps_for_gpus
from xlamig.flow.detectors.mirrored import only_logs
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_KEEPS = frozenset({"range", "list", "tuple", "len", "sorted"})
_SEVERAL = frozenset({(">", 1), (">=", 2)})
_MOST = 2  # variables that are followed
Use = Literal["factor", "text", "test", "other"]
_HARMLESS = frozenset({"factor", "text", "test"})


def zero_replaced(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "zero-replaced": the number, or the list of so many GPUs, is a factor with 1 in the place of
    0, and otherwise at most text, or tested for more than 1. An attribute is followed through its module.
    Or the proof "only-wraps": a variable keeps the number, and only decides on `nn.DataParallel(model)`; or
    "never-read", the name in a function that keeps the number and occurs nowhere else there."""
    if name not in table.names("cuda-tests", "counts"):
        return {}
    top = place.scope.node or analysis.module
    match _parent_of(node, top):
        case ir.Assign(targets=(ir.Name() as target,), value=value) if value is node and _only_wraps(
            target, top, place
        ):
            return {"only-wraps": "1"}
        case ir.Assign(targets=(ir.Name(id=kept),), value=value) if value is node and _occurs_once(
            kept, top, analysis
        ):
            return {"never-read": kept}
        case ir.Assign(targets=(ir.Attribute() as target,), value=value) if value is node:
            use = _use_of_attribute(target, analysis.module)
        case _:
            use = _use_of(node, top, _MOST)
    return {"zero-replaced": "1"} if use == "factor" else {}


def _occurs_once(name: str, top: ir.Node, analysis: Analysis) -> bool:
    text = analysis.source(top)
    return isinstance(top, ir.FunctionDef) and len(re.findall(rf"\b{name}\b", text)) == 1


def _parent_of(node: ir.Node, top: ir.Node) -> ir.Node:
    """Return what a node stands in directly."""
    return [top, *ir.path_down(top, node)][-1]


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
            case ir.Compare(left=left, ops=(op,), comparators=(ir.Const(value=number),)) if left is inner:
                return "test" if (op, number) in _SEVERAL else "other"
            case ir.Call(func=func) if LOGS.search(path_of(func)):
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


def _only_wraps(target: ir.Name, top: ir.Node, place: CodeContext) -> bool:
    """Return whether what follows reads a number in tests for more than 1 that decide on nothing but wrapping
    a model for several GPUs and averaging their results, there, and in what is logged."""
    reads = [
        part
        for part in ir.walk(top)
        if isinstance(part, ir.Name) and part.id == target.id and part is not target
    ]
    uses = [_wraps_or_logs(read, top, place) for read in reads]
    return "wraps" in uses and "other" not in uses


def _wraps_or_logs(
    read: ir.Name, top: ir.Node, place: CodeContext
) -> Literal["wraps", "averages", "logs", "other"]:
    path = [*ir.path_down(top, read)]
    for above in reversed(path):
        match above:
            case ir.If(
                test=ir.Compare(left=ir.Name(id=name), ops=(op,), comparators=(ir.Const(value=bound),))
            ):
                others = [part for part in above.body if not only_logs(part, place.scope)]
                is_several = name == read.id and (op, bound) in _SEVERAL and read.end <= above.body[-1].end
                if is_several and others and all(map(wraps_for_gpus, others)):
                    return "wraps"
                if is_several and others and all(map(_averages, others)):
                    return "averages"
    logs = any(isinstance(above, ir.Call) and LOGS.search(path_of(above.func)) for above in path)
    return "logs" if logs else "other"


def _averages(node: ir.Stmt) -> bool:
    """Return whether a statement makes one number of the results of several GPUs: `loss = loss.mean()`."""
    match node:
        case ir.Assign(
            targets=(ir.Name(id=name),),
            value=ir.Call(func=ir.Attribute(value=ir.Name(id=averaged), attr="mean" | "sum"), args=()),
        ):
            return name == averaged
    return False


def _use_of_name(name: str, target: ir.Name, top: ir.Node, followed: int) -> Use:
    reads = [
        part
        for part in ir.walk(top)
        if isinstance(part, ir.Name) and part.id == name and part.start > target.start
    ]
    return _of_reads(reads, top, followed)


def _use_of_attribute(target: ir.Attribute, module: ir.Module) -> Use:
    """Return what becomes of an attribute, of whatever object, in its module."""
    every = (part for part in ir.walk(module) if isinstance(part, ir.Attribute))
    return _of_reads([part for part in every if part.attr == target.attr], module, 0)


def _of_reads(reads: Iterable[ir.Expr], top: ir.Node, followed: int) -> Use:
    uses = {_use_of(part, top, followed) for part in reads if not is_assigned(part, _parent_of(part, top))}
    return "factor" if "factor" in uses and uses <= _HARMLESS else "other"


def _has_one(values: Iterable[ir.Expr]) -> bool:
    return any(isinstance(value, ir.Const) and value.value == 1 for value in values)


def _multiplies(above: ir.Node, factor: ir.Node) -> bool:
    match above:
        case ir.Binary(op="*"):
            return True
        case ir.AugAssign(op="*" | "*=", value=value):
            return value is factor
    return False
