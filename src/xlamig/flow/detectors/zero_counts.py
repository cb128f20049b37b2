"""Numbers of GPUs whose 0 does no harm: with 1 in its place, `batch_size * max(len(gpus), 1)`, or where they
only decide whether a model is wrapped for several GPUs, GPUs get a seed, or are logged."""

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
_ANY = frozenset({(">", 0), (">=", 1), ("!=", 0)})
Meaning = Literal["wraps", "averages", "logs", "seeds", "replaces", "other"]
Use = Literal["factor", "text", "test", "seed", "other"]
_MEANS: Mapping[Use, Meaning] = {"text": "logs", "seed": "seeds", "factor": "replaces"}
_HARMLESS = frozenset({"factor", "text", "test", "seed"})


def zero_replaced(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "zero-replaced": the number, or the list of so many GPUs, is a factor with 1 in the place of
    0, and otherwise at most text, or tested for more than 1, or for any before GPUs get a seed. An attribute
    is followed through its module. Or the proof "only-wraps": a variable keeps the number, and only decides
    on `nn.DataParallel(model)`; "only-logged", where it is only logged, or decides on seeds of GPUs; or
    "never-read", the name in a function that keeps the number and occurs nowhere else there."""
    if name not in table.names("cuda-tests", "counts"):
        return {}
    top = place.scope.node or analysis.module
    target = _kept_by(node, top)
    if target is not None and (proof := _proof_of(target, top, place, analysis)):
        return proof
    match _parent_of(node, top):
        case ir.Assign(targets=(ir.Attribute() as target,), value=value) if value is node:
            use = _use_of_attribute(target, analysis.module)
        case _:
            use = _use_of(node, top, _MOST)
    return {"zero-replaced": "1"} if use == "factor" else {}


def _kept_by(node: ir.Call, top: ir.Node) -> ir.Name | ir.Attribute | None:
    """Return what keeps a number: `n = device_count()`, `n = 0 if args.no_cuda else device_count()`."""
    match [top, *ir.path_down(top, node)][-2:]:
        case [_, ir.Assign(targets=(ir.Name() | ir.Attribute() as target,), value=value)] if value is node:
            return target
        case [
            ir.Assign(targets=(ir.Name() | ir.Attribute() as target,), value=value),
            ir.IfExp(body=body, orelse=orelse) as choice,
        ] if value is choice and isinstance(orelse if body is node else body, ir.Const):
            return target
    return None


def _proof_of(
    target: ir.Name | ir.Attribute, top: ir.Node, place: CodeContext, analysis: Analysis
) -> Mapping[str, str]:
    """Return what is proven of a number that a variable or an attribute keeps."""
    if isinstance(target, ir.Name) and _occurs_once(target.id, top, analysis):
        return {"never-read": target.id}
    around = analysis.module if isinstance(target, ir.Attribute) else top
    reads = [part for part in _others(target, around) if not is_assigned(part, _parent_of(part, around))]
    uses = [_wraps_or_logs(read, around, place) for read in reads]
    if not uses or "other" in uses or "replaces" in uses:
        return {}
    if "wraps" in uses:
        return {"only-wraps": "1"}
    # Other modules may read the attribute too; who asks it here is likely the only one.
    asked = isinstance(target, ir.Name) or "seeds" in uses
    return {"only-logged": "1"} if asked and {"logs", "seeds"} & {*uses} else {}


def _others(target: ir.Name | ir.Attribute, around: ir.Node) -> Iterable[ir.Name | ir.Attribute]:
    """Yield the other places of a variable, or of an attribute of whatever object."""
    for part in ir.walk(around):
        if part is target:
            continue
        if isinstance(target, ir.Name) and isinstance(part, ir.Name) and part.id == target.id:
            yield part
        if isinstance(target, ir.Attribute) and isinstance(part, ir.Attribute) and part.attr == target.attr:
            yield part


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
                if (op, number) in _SEVERAL:
                    return "test"
                if (op, number) not in _ANY:
                    return "other"
            case ir.If(test=test) if test is inner:
                return "seed" if not above.orelse and all(map(_seeds, above.body)) else "other"
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


def _wraps_or_logs(read: ir.Name | ir.Attribute, top: ir.Node, place: CodeContext) -> Meaning:
    """Return what a number that a variable keeps decides on: wrapping a model for several GPUs, averaging
    their results, seeds of GPUs, or what is logged."""
    for above in reversed([*ir.path_down(top, read)]):
        match above:
            case ir.If(test=ir.Compare(left=left, ops=(op,), comparators=(ir.Const(value=bound),))):
                others = [part for part in above.body if not only_logs(part, place.scope)]
                is_same = path_of(left) == path_of(read)
                is_several = is_same and (op, bound) in _SEVERAL and read.end <= above.body[-1].end
                if is_several and others and all(map(wraps_for_gpus, others)):
                    return "wraps"
                if is_several and others and all(map(_averages, others)):
                    return "averages"
    logs = any(
        isinstance(part, ir.Call) and LOGS.search(path_of(part.func)) for part in ir.path_down(top, read)
    )
    use = "text" if logs else _use_of(read, top, 0)
    return _MEANS.get(use, "other")


def _seeds(node: ir.Stmt) -> bool:
    """Return whether a statement gives GPUs a seed: `torch.cuda.manual_seed_all(seed)`."""
    call = node.value if isinstance(node, ir.ExprStmt) else None
    return isinstance(call, ir.Call) and path_of(call.func).removeprefix("torch.") in table.names(
        "cuda-tests", "seeds"
    )


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
