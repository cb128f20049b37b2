"""Masks that no iteration of a loop changes: they select as many elements in all of them."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.element_reads import LoopNames
from xlamig.flow.interp.frames import STEPS
from xlamig.flow.interp.same_reads import is_unchanged
from xlamig.flow.interp.state import State


def is_unchanged_mask(m: State, mask: ir.Expr) -> bool:
    """Return whether a mask is made before the loops of its function, and only compared in them, where no
    caller's loop of steps makes another one: `mask` and `mask != 1`."""
    around = m.loops_around(mask)
    called = [loop for loop in m.loops if loop not in around]
    if not around or m.forwards or any(loop.kind in (*STEPS, "accumulation") for loop in called):
        return False
    outer = around[0].node
    names = _tensors(mask)
    return bool(names) and all(is_unchanged(m, name, outer, LoopNames.of(outer).stored) for name in names)


def _tensors(mask: ir.Expr) -> list[ir.Expr]:
    return [part for part in _operands(mask) if not isinstance(part, ir.Const)]


def _operands(node: ir.Node) -> Iterator[ir.Expr]:
    """Yield what an expression compares and joins."""
    match node:
        case ir.Compare() | ir.Unary() | ir.Binary():
            for part in ir.children(node):
                yield from _operands(part)
        case ir.Expr():
            yield node
