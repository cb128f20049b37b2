"""Where the graphs of a training iteration end: below updates, and below gradients left to be summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from xlamig import ir
from xlamig.fix.loops import OWN_BODIES, Loop, is_backward, is_update, own_nodes


@dataclass(frozen=True, slots=True)
class Iteration:
    """An iteration of `loop`. `update` is where the analyser saw the parameters change, perhaps in a callee;
    `reads` says whether a statement needs a value on the host. Without `each_backward`, gradients that are
    summed up stay in the graph of the update."""

    module: ir.Module
    loop: Loop
    update: ir.Stmt | None
    reads: Callable[[ir.Stmt], bool]
    each_backward: bool = True

    def ends(self) -> list[ir.Stmt]:
        """Return the statements after which a boundary stands: each update or backward pass that no
        other one certainly follows before a value is read."""
        return list(self._ends(self.loop.body))

    def _ends(self, block: ir.Block) -> Iterator[ir.Stmt]:
        pending: ir.Stmt | None = None
        for statement in block:
            if self._is_micro_batches(statement):
                yield from (ends := list(self._ends(statement.body)))
                pending = None if ends else statement
            elif self._is_event(statement):
                pending = statement
            elif self._updates_inside(statement):
                if pending is not None:
                    yield pending
                pending = None
                for inner in _blocks(statement):
                    yield from self._ends(inner)
            elif pending is not None and self.reads(statement):
                yield pending
                pending = None
        if pending is not None:
            yield pending

    def has_micro_batches(self) -> bool:
        """Return whether a loop inside the iteration sums gradients up."""
        return any(self._is_micro_batches(node) for node in own_nodes(self.loop.body))

    def _is_micro_batches(self, node: ir.Node) -> TypeGuard[Loop]:
        return isinstance(node, Loop) and self._is_event(node)

    def _is_event(self, statement: ir.Stmt) -> bool:
        """It updates the parameters by itself, or computes gradients and holds no update."""
        if statement is self.update and not any(_blocks(statement)):
            return True
        if isinstance(statement, ir.ExprStmt) and is_update(self.module, statement.value):
            return True
        return self.each_backward and not self._updates_inside(statement) and _computes_gradients(statement)

    def _updates_inside(self, statement: ir.Stmt) -> bool:
        return any(
            node is self.update or (isinstance(node, ir.ExprStmt) and is_update(self.module, node.value))
            for node in own_nodes((statement,))
            if node is not statement
        )


def _blocks(statement: ir.Stmt) -> Iterator[ir.Block]:
    if not isinstance(statement, OWN_BODIES):
        yield from ir.blocks_of(statement)


def _computes_gradients(statement: ir.Stmt) -> bool:
    return any(is_backward(node) for node in own_nodes((statement,)))
