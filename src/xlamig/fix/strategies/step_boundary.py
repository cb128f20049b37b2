"""Ends the steps of a loop: `torch_xla.sync()`, in portable code through the helper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xlamig import ir
from xlamig.facts import Fact, HostRead, Span, StepBoundary
from xlamig.fix.callees import callee_of
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.insertion import insert_after
from xlamig.fix.loops import BOUNDARIES, Loop, is_update, loop_of, updated_by
from xlamig.fix.micro_batches import join_ends
from xlamig.fix.names import last_name
from xlamig.fix.scopes import below_in, function_around, path_to, statement_at
from xlamig.fix.step_end import end_of_step, reads_value, waits
from xlamig.fix.updates import Iteration
from xlamig.fix.xla_calls import xla_statement
from xlamig.knowledge import helpers


def step_boundary(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Below the updates of the parameters and what still belongs to the step, and below gradients that
    are summed up; in loops that only call a model, as the iteration's last statement."""
    if not isinstance(fact, StepBoundary):
        return None
    if fact.loop == "called":
        return _in_function(fact, context)
    loop = loop_of(context.module, fact.parts.get("body"))
    if loop is None:
        return None
    if fact.loop != "training":
        return boundary_after(fact, context, _last(loop))
    if fact.optimizer == "xm":
        return None
    if waits(context, loop):
        raise FixDeclined("the fix of `torch.cuda.synchronize()` ends the step there (XLA005)")
    if above := _above_read(fact, context):
        return boundary_after(fact, context, end_of_step(context, above))
    iteration = _iteration(fact, context, loop)
    plain = fact.optimizer == "plain" and not iteration.has_micro_batches()
    whole = updated_by(context.module, loop) if plain else None
    ends = [whole] if whole else join_ends(context, loop, iteration.ends()) or [_last(loop)]
    return boundaries_after(fact, context, [end_of_step(context, statement) for statement in ends])


def _in_function(fact: StepBoundary, context: FixContext) -> Draft | None:
    """Return the draft for a function that is a step: below its one update, which always runs."""
    update = statement_at(context.module, fact.span)
    if fact.optimizer != "plain" or not fact.update or fact.accumulates or fact.branched or update is None:
        return None
    return boundary_after(fact, context, end_of_step(context, update))


def _iteration(fact: StepBoundary, context: FixContext, loop: Loop) -> Iteration:
    update = statement_at(context.module, fact.span)
    inside = update if update is not loop else None
    each_backward = not context.settings.accumulate_in_graph
    reads = partial(reads_value, context)
    return Iteration(context.module, loop, inside, reads, each_backward)


def _above_read(fact: StepBoundary, context: FixContext) -> ir.Stmt | None:
    """Return the update in the function of the file that the loop calls, where a read follows it there: the
    step has to end between the two (`boundary_above_read`)."""
    call = path_to(context.module, *fact.span)[-1]
    if not isinstance(call, ir.Call) or is_update(context.module, call):
        return None
    name = last_name(call.func)
    called = [n for n in ir.walk(context.module) if isinstance(n, ir.FunctionDef) and n.name == name]
    if len(called) != 1 or fact.optimizer != "plain" or fact.accumulates:
        return None
    reads = (s for s in called[0].body if not isinstance(s, Loop) and reads_value(context, s))
    updates = (_update_above(called[0].body, read, context) for read in reads)
    return next((update for update in updates if update), None)


def _last(loop: Loop) -> ir.Stmt:
    """The last statement of the loop's body that the next one does not leave unreached."""
    above = [s for s in loop.body if not isinstance(s, ir.Jump | ir.Return | ir.Raise)]
    return above[-1] if above else loop.body[-1]


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


def boundary_above_read(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """A function that a loop calls updates the parameters, and reads a value below the update: without a
    boundary between them the read runs the forward pass, and the rest of the step is another graph. A
    function that runs in some steps has to read whenever it updates."""
    if not isinstance(fact, HostRead) or fact.boundary != "before":
        return None
    path = path_to(context.module, *fact.span)
    function = function_around(path)
    inside = path[next((i + 1 for i, node in enumerate(path) if node is function), 0) :]
    if not isinstance(function, ir.FunctionDef) or any(isinstance(node, Loop) for node in inside):
        return None
    if fact.frequency != "step" and any(isinstance(node, ir.If | ir.IfExp) for node in inside):
        return None
    update = _update_above(function.body, inside[0], context)
    return boundary_after(fact, context, end_of_step(context, update)) if update else None


def _update_above(body: ir.Block, read: ir.Node, context: FixContext) -> ir.Stmt | None:
    """Return the last statement above a read that steps an optimizer, if no boundary follows it."""
    above = body[: next((i for i, s in enumerate(body) if s is read), 0)]
    return _last_update(context, above)


def _last_update(context: FixContext, block: ir.Block, depth: int = 3) -> ir.Stmt | None:
    """Return the last statement of a block that steps an optimizer, itself or in a function of the file that
    reads nothing afterwards; None if a boundary follows it."""
    for statement in reversed(block):
        match statement:
            case ir.ExprStmt(value=ir.Call(func=func)) if last_name(func) in BOUNDARIES:
                return None
            case ir.ExprStmt(value=value) if is_update(context.module, value):
                return statement
            case ir.ExprStmt(value=ir.Call() as call) | ir.Assign(value=ir.Call() as call) if depth:
                if _leaves_update(context, call, depth - 1):
                    return statement
    return None


def _leaves_update(context: FixContext, call: ir.Call, depth: int) -> bool:
    """Return whether a function that a call runs steps an optimizer and leaves that to be executed."""
    function = callee_of(context.module, call)
    update = _last_update(context, function.body, depth) if function else None
    below = below_in(function.body, update) if function and update else None
    return below is not None and not any(reads_value(context, s) for s in below)


def _is_xm_step(func: ir.Expr) -> bool:
    name = func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")
    return name == "optimizer_step"


def boundary_after(fact: Fact, context: FixContext, statement: ir.Stmt) -> Draft | None:
    """The draft that writes a boundary below `statement`."""
    return boundaries_after(fact, context, [statement])


def boundaries_after(fact: Fact, context: FixContext, statements: Sequence[ir.Stmt]) -> Draft | None:
    """The draft that writes a boundary below each of `statements`."""
    place: Span = (statements[0].end, statements[0].end)
    call = xla_statement(context, fact, helpers.BOUNDARY, "", place)
    inserted = [insert_after(context, s, call.lines) if call else None for s in statements]
    edits = tuple(edit for edit in inserted if edit)
    if call is None or len(edits) < len(inserted):
        return None
    return Draft(f"Add `{call.lines[-1].strip()}`", (*call.edits, *edits), call.creates)
