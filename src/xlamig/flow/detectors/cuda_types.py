"""Tensor types that a test for CUDA chooses: `torch.cuda.FloatTensor if CUDA else torch.FloatTensor`."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.flow.detectors.mirrored import TYPE_OF_CUDA
from xlamig.flow.model.scopes import Scope, path_of

Dotted = Callable[[ir.Expr], str | None]


def chooses_type(chosen: ir.Expr, other: ir.Expr, dotted: Dotted) -> bool:
    """Return whether two expressions are one type of tensors, on CUDA and on the CPU; a text may name it."""
    name = _name(chosen, dotted)
    return TYPE_OF_CUDA.fullmatch(name) is not None and _name(other, dotted) == name.replace(".cuda", "", 1)


def type_in_branch(chosen: ir.Block, other: ir.Block, scope: Scope, dotted: Dotted) -> ir.Expr | None:
    """Return the type of CUDA that a branch gives a name, to which the other one, or what stands before both,
    gives that of the CPU."""
    for statement in chosen:
        match statement:
            case ir.Assign(targets=(target, *_), value=value) if path := path_of(target):
                on_host = _given(path, other) if other else _held(path, scope, statement.start)
                if any(chooses_type(value, one, dotted) for one in on_host):
                    return value
    return None


def _given(path: str, block: ir.Block) -> list[ir.Expr]:
    """Return what a block assigns to a name."""
    return [one.value for one in block if isinstance(one, ir.Assign) and path_of(one.targets[0]) == path]


def _held(path: str, scope: Scope, before: int) -> list[ir.Expr]:
    """Return what was assigned to a name last, if anything was."""
    return [one.value for one in scope.find(path) if one.value and one.start < before][-1:]


def _name(node: ir.Expr, dotted: Dotted) -> str:
    if isinstance(node, ir.Const):
        return node.value if isinstance(node.value, str) else ""
    return dotted(node) or ""
