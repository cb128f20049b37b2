"""The parts of statements, and the conditions that options put them under."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.conditions import Condition, Conditions, condition_of, count_of
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import Scope

Parts = Iterator[tuple[ir.Node, Conditions]]


def branches_of(node: ir.If | ir.IfExp, scope: Scope, text: str, other: bool = False) -> Parts:
    """Yield the test and the branches of a test, these under its condition if an option or CUDA may decide
    it; a test before may lead to an `other` way. `text` is that of the module."""
    condition = condition_of(node.test, scope, text)
    body, orelse = _block(node.body), _block(node.orelse)
    yield from _parts(node.test, scope, text, other or _does_work(orelse))
    for part, holds, instead in ((body, True, orelse), (orelse, False, body)):
        this = condition._replace(other=other or _does_work(instead))
        under = _known(this, holds)
        match part:
            case (ir.If() as further,) if not holds:
                inner = branches_of(further, scope, text, other=_does_work(body))
                yield from ((child, (*under, *more)) for child, more in inner)
            case _:
                yield from ((child, under) for child in part)


def iterations_of(node: ir.For, scope: Scope, text: str) -> Parts:
    """Yield the parts of a loop, its body under the condition that an option gives it an iteration."""
    count = count_of(node)
    under = _known(condition_of(count, scope, text), True) if count is not None else ()
    yield from ((child, under) for child in node.body)
    yield from ((child, ()) for child in (node.target, node.iter, *node.orelse))


def returning(block: ir.Block) -> Iterator[ir.Node]:
    """Yield the tests in a block that lead to a `return`, below which the block does something else."""
    for i, node in enumerate(block):
        if isinstance(node, ir.If) and isinstance(node.body[-1], ir.Return):
            match block[i + 1 :]:
                case (ir.Return(value=None | ir.Const(value=None)),):
                    continue
                case rest if _does_work(rest):
                    yield node


def _known(condition: Condition, holds: bool) -> Conditions:
    return () if condition.kind == "unknown" else ((condition, holds),)


def _parts(test: ir.Expr, scope: Scope, text: str, other: bool) -> Parts:
    """Yield a test, of `a and b` the parts, each under the condition that those before it hold."""
    if not isinstance(test, ir.Bool) or test.op != "and":
        yield test, ()
        return
    for i, part in enumerate(test.values):
        before = tuple(condition_of(one, scope, text) for one in test.values[:i])
        known = any(condition.kind != "unknown" for condition in before)
        shown = short(text[test.start : test.values[i - 1].end])
        condition = Condition("and", parts=before, text=shown, other=other)
        yield part, ((condition, True),) if known else ()


def _block(part: ir.Expr | ir.Block) -> tuple[ir.Node, ...]:
    return part if isinstance(part, tuple) else (part,)


def _does_work(part: tuple[ir.Node, ...]) -> bool:
    """Return whether a branch does something, and is not there to say that it cannot."""
    block = tuple(one for one in part if isinstance(one, ir.Stmt) and not isinstance(one, ir.Jump))
    return bool(part) and (isinstance(part[0], ir.Expr) or (bool(block) and not ends_program(block)))
