"""Ends the steps of a loop: `torch_xla.sync()`, in portable code through the helper."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Span, StepBoundary
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import ends_each_round, loop_of, updated_by
from xlamig.fix.xla_calls import xla_statement
from xlamig.knowledge import helpers


def step_boundary(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """After the statement that updates the parameters, where each backward pass is followed by it;
    in loops that only call a model, as the round's last statement."""
    if not isinstance(fact, StepBoundary) or fact.optimizer not in ("plain", "none"):
        return None
    loop = loop_of(page.module, fact.parts.get("body"))
    if loop is None:
        return None
    if fact.loop == "training":
        if fact.optimizer == "none":
            return None
        at = updated_by(page.module, loop, fact.accumulates)
    else:
        at = loop.body[-1] if ends_each_round(loop) else None
    return boundary_after(fact, page, at) if at is not None else None


def boundary_after(fact: Fact, page: FixContext, statement: ir.Stmt) -> Draft | None:
    """The draft that writes a boundary below `statement`."""
    place: Span = (statement.end, statement.end)
    call = xla_statement(page, fact, helpers.BOUNDARY, "", place)
    inserted = insert_after(page, statement, call.lines) if call else None
    if call is None or inserted is None:
        return None
    return Draft(f"Add `{call.lines[-1].strip()}`", (*call.edits, inserted), call.creates)
