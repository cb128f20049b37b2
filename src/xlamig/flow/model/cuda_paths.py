"""Follow the statements of a function, with the test that only CUDA passes where one holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from xlamig import ir
from xlamig.facts import Guard
from xlamig.flow.model.exits import jumps_out
from xlamig.flow.model.scopes import Scope
from xlamig.flow.model.values import Values

Path = tuple[ir.Node, str]
"""A part of a statement or expression, and the text of the test for CUDA around it, "" for none."""


class Tests(Protocol):
    """The guards of a module, as it asks them; they ask it what functions answer."""

    values: Values

    def of(self, test: ir.Expr, scope: Scope, holds: bool) -> tuple[Guard, ...]:
        """Return the guards that a test sets, where it holds or does not."""


class CudaPaths:
    """Walks one module. Functions and classes inside are handed out as they are. Without `availability`, only
    tests of where something is count."""

    def __init__(self, guards: Tests, availability: bool = True) -> None:
        self.guards = guards
        self._availability = availability

    def block(self, body: Sequence[ir.Stmt], scope: Scope, under: str = "") -> Iterator[Path]:
        """Yield the statements that hold no others, returns and tests included; what follows an early exit is
        under the opposite of its test."""
        for statement in body:
            yield from self._statement(statement, scope, under)
            if isinstance(statement, ir.If):
                for branch, holds in ((statement.body, False), (statement.orelse, True)):
                    if branch and jumps_out(branch[-1]):
                        under = under or self.asked(statement.test, scope, holds)

    def _statement(self, node: ir.Stmt, scope: Scope, under: str) -> Iterator[Path]:
        match node:
            case ir.If(test=test, body=body, orelse=orelse):
                yield test, under
                yield from self.block(body, scope, under or self.asked(test, scope, True))
                yield from self.block(orelse, scope, under or self.asked(test, scope, False))
            case ir.For() | ir.While() | ir.With() | ir.Try() | ir.Match():
                for part in ir.children(node):
                    if isinstance(part, ir.Handler | ir.Case):
                        yield from self.block(part.body, scope, under)
                    elif not isinstance(part, ir.Stmt):
                        yield part, under
                for block in ir.blocks_of(node):
                    yield from self.block(block, scope, under)
            case _:
                yield node, under

    def parts(self, node: ir.Node, scope: Scope, under: str) -> Iterator[Path]:
        """Yield an expression and all below it; the later values of `and` and `or`, and the sides of a
        conditional expression, are under the test before them."""
        yield node, under
        match node:
            case ir.Bool(op=op, values=values):
                for value in values:
                    yield from self.parts(value, scope, under)
                    under = under or self.asked(value, scope, op == "and")
            case ir.IfExp(test=test, body=body, orelse=orelse):
                yield from self.parts(test, scope, under)
                yield from self.parts(body, scope, under or self.asked(test, scope, True))
                yield from self.parts(orelse, scope, under or self.asked(test, scope, False))
            case _:
                for part in ir.children(node):
                    yield from self.parts(part, scope, under)

    def asked(self, test: ir.Expr, scope: Scope, holds: bool) -> str:
        """Return the text of the test for CUDA that must pass where a test holds, or where it does not."""
        found = {
            guard.span: guard.text for guard in self.guards.of(test, scope, holds) if guard.kind == "cuda"
        }
        if self._availability or not found:
            return next(iter(found.values()), "")
        parts = (part for part in ir.walk(test) if isinstance(part, ir.Expr))
        asked = (
            part for part in parts if (part.start, part.end) in found and self._is_of_tensor(part, scope)
        )
        return next((found[part.start, part.end] for part in asked), "")

    def _is_of_tensor(self, test: ir.Expr, scope: Scope) -> bool:
        """Return whether a test asks where something is: a port changes tests of availability."""
        known = self.guards.values.of(test, scope)
        return not known.availability and (known.value.kind == "cuda-test" or isinstance(test, ir.Call))
