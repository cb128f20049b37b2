"""Tests of whether torch.distributed has a process group, around what needs one."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.exits import jumps_out
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table


def is_under_group_test(node: ir.Node, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether a place runs only where a function that asks for the group says so: under a test of its
    answer, perhaps by a name, or after an early exit without a group."""
    asks = table.name_like("asks-group").search
    for test in _tests_of(place.scope.node or analysis.module, node):
        parts = [*ir.walk(test)]
        for path in {path_of(part) for part in parts if isinstance(part, ir.Name | ir.Attribute)} - {""}:
            parts += [part for b in place.scope.find(path) if b.value for part in ir.walk(b.value)]
        calls = (part for part in parts if isinstance(part, ir.Call))
        if any(asks(path_of(call.func).rpartition(".")[2]) for call in calls):
            return True
    return False


def _tests_of(root: ir.Node, node: ir.Node) -> Iterator[ir.Expr]:
    """Yield the tests around a node, and those of early exits before it in the blocks around it."""
    for part in ir.path_down(root, node):
        match part:
            case ir.If(test=test) | ir.IfExp(test=test):
                yield test
            case ir.Bool(op="and", values=values):
                yield from values
        for block in ir.blocks_of(part):
            if any(ir.encloses(statement, node) for statement in block):
                yield from _exits_before(block, node)


def _exits_before(block: ir.Block, node: ir.Node) -> Iterator[ir.Expr]:
    for statement in block:
        if isinstance(statement, ir.If) and statement.end <= node.start and jumps_out(statement.body[-1]):
            yield statement.test
