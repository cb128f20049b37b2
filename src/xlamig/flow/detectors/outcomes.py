"""Find the targets that a statement assigns or returns."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of


def outcomes(node: ir.Stmt) -> Iterator[tuple[tuple[str, int], ir.Expr]]:
    """Yield what a statement assigns, by name, and what it returns, by position under an empty name."""
    if isinstance(node, ir.Return) and node.value is not None:
        values = node.value.elements if isinstance(node.value, ir.Sequence) else (node.value,)
        yield from ((("", i), value) for i, value in enumerate(values))
    elif isinstance(node, ir.Assign):
        target, value = node.targets[0], node.value
        together = isinstance(target, ir.Sequence) and isinstance(value, ir.Sequence)
        targets = target.elements if isinstance(target, ir.Sequence) and together else (target,)
        values = value.elements if isinstance(value, ir.Sequence) and together else (value,)
        pairs = zip(targets, values, strict=False)
        yield from (((path, 0), v) for t, v in pairs if (path := path_of(t)))
