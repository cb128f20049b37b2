"""Loops that run once or a few times, by what is written."""

from __future__ import annotations

from xlamig import ir

FEW = 4
"""So many iterations may be one graph."""


def is_short(node: ir.For | ir.While) -> bool:
    """Return whether a loop has so few iterations that its graph may be one."""
    if _ends_at_once(node):
        return True
    if not isinstance(node, ir.For):
        return False
    match node.iter:
        case ir.Sequence(elements=elements):
            return len(elements) <= FEW
        case ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=ir.Const(value=int(count))),)):
            return count <= FEW
    return False


def _ends_at_once(node: ir.For | ir.While) -> bool:
    """Return whether the first iteration of a loop leaves it, as where one batch of a loader is wanted."""
    match node.body[-1]:
        case ir.Return() | ir.Raise() | ir.Jump(kind="break"):
            jumps = (inner for inner in ir.walk(node) if isinstance(inner, ir.Jump))
            return all(jump.kind != "continue" for jump in jumps)
    return False
