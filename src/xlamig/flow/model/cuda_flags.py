"""Flags that say whether CUDA is there: those that branches of a test set, and those that place tensors."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

from xlamig import ir
from xlamig.flow.model.asked import asked_by
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.cuda_questions import names_cuda
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.scopes import path_of
from xlamig.per_file import per_file

GPU_FLAG = re.compile(r"(?:^|_)(?:gpu|cuda)$", re.IGNORECASE)

_BACKENDS = ("torch.backends.", "cudnn.")
_CUDA = "cuda"  # the method, the package, and how the text of a device begins


def places(node: ir.Node, module: ir.Module) -> bool:
    """Return whether a node, such as a choice in either branch, places something on CUDA."""
    placements = _placements(module)
    first = bisect_left(placements, node.start)
    return first < len(placements) and placements[first] < node.end


@per_file
@cache
def _placements(module: ir.Module) -> Sequence[int]:
    """Return where a module calls `.cuda()`, uses `torch.cuda`, or has the text of a CUDA device."""
    attributes = (node for node in of_kind(module, ir.Attribute) if node.attr == _CUDA)
    texts = (node for node in of_kind(module, ir.Const) if names_cuda(node))
    patterns = (f for f in of_kind(module, ir.FString) if f.parts and str(f.parts[0]).startswith(_CUDA))
    return sorted(node.start for nodes in (attributes, texts, patterns) for node in nodes)


def placing_flags(module: ir.Module) -> tuple[str, ...]:
    """Return the names of the flags and options that decide placements on CUDA, `gpu` of `if args.gpu:`."""
    choices: list[ir.If | ir.IfExp] = [*of_kind(module, ir.If), *of_kind(module, ir.IfExp)]
    return tuple(sorted({name for node in choices if places(node, module) for name in _tested(node.test)}))


def _tested(test: ir.Expr) -> Iterator[str]:
    if isinstance(test, ir.Bool):
        for value in test.values:
            yield from _tested(value)
    else:
        yield from filter(None, map(option_of, asked_by(test)))


def places_by_flag(name: str, module: ir.Module, decided: ir.If) -> bool:
    """Return whether a branch that a flag chooses places something on CUDA, `decided` left out."""
    choices: list[ir.If | ir.IfExp] = [*of_kind(module, ir.If), *of_kind(module, ir.IfExp)]
    return any(
        name in _tested(node.test) and any(places(branch, module) for branch in _branches(node))
        for node in choices
        if node is not decided
    )


def _branches(node: ir.If | ir.IfExp) -> tuple[ir.Node, ...]:
    return (*node.body, *node.orelse) if isinstance(node, ir.If) else (node.body, node.orelse)


def targets_in_branches(node: ir.If, module: ir.Module) -> tuple[ir.Expr, ...]:
    """Return the name, as both branches assign it, that one of them sets to True and the other to False;
    without another branch, as the function assigned it before. Nothing where a branch does more than that,
    call functions and set options of backends."""
    body, orelse = [*_assigned(node.body)], [*_assigned(node.orelse)]
    if len(body) == 1 and body[0] is not None and not node.orelse:
        orelse = _assigned_before(node, path_of(body[0][0]), module)
    if len(body) != 1 or len(orelse) != 1 or None in body or None in orelse:
        return ()
    (yes, no) = body[0], orelse[0]
    if yes is None or no is None or path_of(yes[0]) != path_of(no[0]) or yes[1] is no[1]:
        return ()
    return yes[0], no[0]


def _assigned_before(node: ir.If, path: str, module: ir.Module) -> list[tuple[ir.Expr, bool] | None]:
    """Return the other assignments of a name, None for one that may not come before or is no constant."""
    functions = of_kind(module, ir.FunctionDef)
    around = [function for function in functions if function.start <= node.start < function.end]
    found: list[tuple[ir.Expr, bool] | None] = []
    for other in of_kind(module, ir.Assign):
        if node.start <= other.start < node.end or path not in map(path_of, other.targets):
            continue
        outside = [function for function in functions if function.start <= other.start < function.end]
        found += _assigned((other,)) if other.end <= node.start and outside == around else [None]
    return found


def _assigned(block: ir.Block) -> Iterator[tuple[ir.Expr, bool] | None]:
    """Yield the names that a block sets to True or False; None for a statement that does something else."""
    for statement in block:
        match statement:
            case ir.Assign(targets=(target,)) if path_of(target).startswith(_BACKENDS):
                continue
            case ir.Assign(targets=(target,), value=ir.Const(value=bool(value))) if path_of(target):
                yield target, value
            case ir.ExprStmt(value=ir.Call() | ir.Const()):
                continue
            case _:
                yield None
