"""Tensor types that a test for CUDA chooses: `torch.cuda.FloatTensor if CUDA else torch.FloatTensor`."""

from __future__ import annotations

import re
from collections.abc import Callable

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of

_OF_CUDA = re.compile(r"torch\.cuda\.\w+Tensor")

Dotted = Callable[[ir.Expr], str | None]


def chooses_type(chosen: ir.Expr, other: ir.Expr, dotted: Dotted) -> bool:
    """Return whether two expressions are one type of tensors, on CUDA and on the CPU; a text may name it."""
    name = _name(chosen, dotted)
    return _OF_CUDA.fullmatch(name) is not None and _name(other, dotted) == name.replace(".cuda", "", 1)


def type_in_branch(chosen: ir.Block, other: ir.Block, scope: Scope, dotted: Dotted) -> ir.Expr | None:
    """Return the type of CUDA that a branch gives a name, to which the other one, or what stands before both,
    gives that of the CPU."""
    for statement in chosen:
        path = path_of(statement.targets[0]) if isinstance(statement, ir.Assign) else ""
        if not isinstance(statement, ir.Assign) or not path:
            continue
        values = [
            part.value for part in other if isinstance(part, ir.Assign) and path_of(part.targets[0]) == path
        ]
        if not other:
            values = [one.value for one in scope.find(path) if one.value and one.start < statement.start][-1:]
        if any(chooses_type(statement.value, value, dotted) for value in values):
            return statement.value
    return None


def _name(node: ir.Expr, dotted: Dotted) -> str:
    if isinstance(node, ir.Const):
        return node.value if isinstance(node.value, str) else ""
    return dotted(node) or ""
