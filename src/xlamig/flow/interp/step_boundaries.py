"""The end of a step: a sync, a host read, or nothing."""

from __future__ import annotations

from xlamig.facts import StepBoundary, Why
from xlamig.flow.interp.domain import (
    LIKELY,
    AbstractValue,
    Mark,
)
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.loop_kinds import header_of, is_short
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects


def record_boundary(m: State, loop: Loop, effects: Effects, iterable: AbstractValue) -> None:
    """Record what ends the steps of a loop."""
    if not effects.happens(Effect.WORK) or is_short(loop.node):
        return
    must = effects.must
    updates = Effect.OPTIMIZER_STEP in must
    accumulates = not updates and Effect.OPTIMIZER_STEP in effects.may
    boundary = "none"
    if Effect.FRAMEWORK in must:
        boundary = "framework"
    elif iterable.trait is Mark.DEVICE_LOADER:
        boundary = "several" if Effect.SYNC in must else "loader"
    elif Effect.SYNC in must:
        boundary = "several" if Effect.SYNC in effects.repeated else "sync"
    elif Effect.SYNC_INSIDE in must or (Effect.SYNC in effects.may and not updates):
        boundary = "sync"
    elif Effect.READ in must or (Effect.POSSIBLE_READ in must and loop.kind != "training"):
        boundary = "read"
    optimizer = "none"
    if Effect.XLA_OPTIMIZER_STEP in must:
        optimizer = "xm"
    elif updates or accumulates:
        optimizer = "several" if Effect.OPTIMIZER_STEP in effects.repeated else "plain"
    node = loop.node
    header = header_of(loop)
    if m.callers_known or iterable.kind in ("loader", "dataset") or Effect.BATCH in must:
        m.prove(header, inference=True)
    ends = loop.kind == "training" and boundary in ("none", "read")
    at = loop.update if ends and loop.update is not None else header
    in_loop = Why("each iteration of this loop is a step", (header.start, header.end))
    m.record(
        StepBoundary,
        at,
        LIKELY,
        () if at is header else (in_loop,),
        loop=loop.kind,
        boundary=boundary,
        optimizer=optimizer,
        accumulates=accumulates,
        parts={"body": (node.body[0].start, node.body[-1].end)},
    )
