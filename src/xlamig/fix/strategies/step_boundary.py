"""Ends the steps of a loop: `torch_xla.sync()`, in portable code through the helper."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Span, StepBoundary
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import ends_each_round, loop_of, updated_by
from xlamig.fix.step_end import end_of_step, waits
from xlamig.fix.xla_calls import xla_statement
from xlamig.knowledge import helpers

_HELD = {
    "accumulates": "gradients may be accumulated over iterations: you choose where a step ends",
    "training": "xlamig cannot see an update in every iteration that computes gradients",
    "evaluation": "`continue` ends iterations early",
    "decoding": "`continue` ends iterations early",
}


def step_boundary(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """After the update of the parameters and what still belongs to the step, where each backward pass is
    followed by it; in loops that only call a model, as the round's last statement."""
    if not isinstance(fact, StepBoundary):
        return None
    if fact.optimizer not in ("plain", "none"):
        raise FixDeclined("several optimizers step in the loop: you choose where a step ends")
    loop = loop_of(context.module, fact.parts.get("body"))
    if loop is None:
        return None
    if fact.loop == "training":
        if fact.optimizer == "none":
            return None
        if waits(context, loop):
            raise FixDeclined("the fix of `torch.cuda.synchronize()` ends the step there (XLA005)")
        updated = updated_by(context.module, loop, fact.accumulates)
        at = end_of_step(context, updated) if updated else None
    else:
        at = loop.body[-1] if ends_each_round(loop) else None
    if at is None:
        raise FixDeclined(_HELD["accumulates" if fact.accumulates else fact.loop])
    return boundary_after(fact, context, at)


def xm_barrier(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`xm.optimizer_step(optimizer)` ends the step too, with `barrier=True`."""
    if not isinstance(fact, StepBoundary) or fact.optimizer != "xm" or fact.accumulates:
        return None
    loop = loop_of(context.module, fact.parts.get("body"))
    calls = [n for n in ir.walk(loop) if isinstance(n, ir.Call) and _is_xm_step(n.func)] if loop else []
    if len(calls) != 1 or len(calls[0].args) != 1 or calls[0].args[0].star:
        return None
    end = calls[0].args[0].end
    return Draft("Add `barrier=True`", (context.edit(end, end, ", barrier=True"),))


def _is_xm_step(func: ir.Expr) -> bool:
    name = func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")
    return name == "optimizer_step"


def boundary_after(fact: Fact, context: FixContext, statement: ir.Stmt) -> Draft | None:
    """The draft that writes a boundary below `statement`."""
    place: Span = (statement.end, statement.end)
    call = xla_statement(context, fact, helpers.BOUNDARY, "", place)
    inserted = insert_after(context, statement, call.lines) if call else None
    if call is None or inserted is None:
        return None
    return Draft(f"Add `{call.lines[-1].strip()}`", (*call.edits, inserted), call.creates)
