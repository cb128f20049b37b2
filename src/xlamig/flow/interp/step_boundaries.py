"""The end of a step: a sync, a host read, or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ChangingConstant, HostRead, StepBoundary, Why
from xlamig.flow.interp.carried_names import assignments, names_in, reads_apart, replaced
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark, element_of
from xlamig.flow.interp.dropped_results import drops_results
from xlamig.flow.interp.fed_back import state_left
from xlamig.flow.interp.frames import STEPS, Loop
from xlamig.flow.interp.generators import leave_open
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.short_loops import is_short
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_JOINS = table.names("torch", "concat")
ABSORBED = frozenset(
    {Effect.BACKWARD, Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP, Effect.ZERO_GRAD, Effect.BATCH}
    | {Effect.MODEL_CALL, Effect.SYNC, Effect.READ, Effect.POSSIBLE_READ, Effect.STEP_READ}
    | {Effect.CALLED_READ, Effect.RESULT_READ, Effect.UNREAD, Effect.WAIT, Effect.DESCENT}
)
"""The effects of a step that a loop of steps does not pass on to what is around it."""


def record_boundary(
    m: State, loop: Loop, effects: Effects, iterable: AbstractValue, at: ir.Stmt | None = None
) -> None:
    """Record what ends the steps of a loop, or the iterations of one inside a step; of the statement `at`."""
    brief = is_short(loop.node) and not loop.called
    if not effects.happens(Effect.WORK) or brief or _is_fallback(m, loop):
        return
    must = effects.must
    updates = Effect.OPTIMIZER_STEP in must
    inner = loop.kind not in STEPS
    at_times = not updates and Effect.OPTIMIZER_STEP in effects.may
    boundary = "none"
    framework = Effect.FRAMEWORK in must or (at_times and Effect.FRAMEWORK in effects.may)
    if framework and not _loads_nothing(m, loop, effects, iterable):
        boundary = "framework"
    elif iterable.trait is Mark.DEVICE_LOADER:
        ended = m.synced and Effect.SYNC not in effects.repeated  # the loader finds nothing left to run
        boundary = "several" if Effect.SYNC in must and not ended else "loader"
    elif Effect.SYNC in must:
        boundary = "several" if Effect.SYNC in effects.repeated else "sync"
    elif Effect.SYNC_INSIDE in must or (effects.happens(Effect.SYNC, Effect.SYNC_INSIDE) and not updates):
        boundary = "sync"
    elif Effect.READ in must or (Effect.POSSIBLE_READ in must and loop.kind in ("evaluation", "decoding")):
        boundary = "part" if _leaves_results(m, loop, effects) else "read"
    elif effects.happens(Effect.STEP_READ) and loop.kind in ("evaluation", "decoding"):
        boundary = "some" if Effect.UNREAD in effects.may else "read"
    if Effect.WAIT in must and boundary in ("none", "some", "part") and loop.kind != "training":
        boundary = "sync"
    infers = loop.kind in ("evaluation", "decoding")
    meant_to_run = effects.happens(Effect.WAIT)  # it waits for the device
    if boundary == "none" and infers and not meant_to_run and drops_results(m, loop):
        return
    state = ""
    if boundary in ("read", "some", "part") and infers:
        state = state_left(m, loop)
        boundary = "part" if state else boundary
    optimizer = "none"
    if Effect.XLA_OPTIMIZER_STEP in must:
        optimizer = "xm"
    elif updates or at_times:
        optimizer = "several" if Effect.OPTIMIZER_STEP in effects.repeated else "plain"
    header = loop.header
    if m.callers_known or iterable.kind in ("loader", "dataset") or Effect.BATCH in must:
        m.prove(header, inference=True)
    ends = loop.kind == "training" and boundary in ("none", "read")
    joins = state or (boundary == "none" and infers)
    node = loop.update if ends and loop.update is not None else header
    above = [] if loop.update is None else [*ir.path_down(loop.node, loop.update)]
    inside = bool(above) and any(child is loop.update for child in ir.children(above[-1]))
    in_loop = Why("each iteration of this loop is a step", (header.start, header.end))
    found = m.record(
        StepBoundary,
        node,
        LIKELY,
        () if node is header or loop.called else (in_loop,),
        at=at,
        loop="inner" if inner else _kind_of(loop),
        boundary=boundary,
        optimizer=optimizer,
        accumulates=at_times,
        branched=inside and not at_times and any(isinstance(part, ir.If) for part in above),
        update=short(m.source(loop.update)) if inside and loop.update is not None else "",
        cut=_cut_by_numbers(m, loop),
        state=state,
        grows=_joined(loop) if joins else "",
        parts={} if loop.comprehends else {"body": (loop.node.body[0].start, loop.node.body[-1].end)},
    )
    leave_open(m, loop, found)


def _kind_of(loop: Loop) -> str:
    if loop.called:
        return "called"
    return "comprehension" if loop.comprehends and loop.kind != "training" else loop.kind


def _loads_nothing(m: State, loop: Loop, effects: Effects, iterable: AbstractValue) -> bool:
    """Return whether a loop takes no batch from a loader, where a library has its loaders end the steps."""
    if not any(word in m.analysis.text for word in table.names("boundaries", "by-loaders")):
        return False
    counts = isinstance(loop.node, ir.While) or iterable.trait is Mark.RANGE
    inside = loop.outside in ("step", "interval") or any(around.loads for around in m.loops)
    loads = loop.loads or any(one.kind in ("loader", "dataset") for one in loop.taken)
    takes = inside or loads or effects.happens(Effect.BATCH)
    return counts and not takes and "next(" not in m.source(loop.node)


def _joined(loop: Loop) -> str:
    """Return the name that a loop joins more to in each iteration, `x = torch.cat([x, y])`; "" if none."""
    for target, value in assignments(loop.node.body):
        if isinstance(value, ir.Call) and path_of(value.func).rpartition(".")[2] in _JOINS:
            for name in sorted(names_in(target) & names_in(value)):
                return name
    return ""


def _is_fallback(m: State, loop: Loop) -> bool:
    """Return whether a loop without updates runs only where something has failed: in an `except`."""
    function = m.frame.scope.node
    around = ir.path_down(function, loop.node) if isinstance(function, ir.FunctionDef) else ()
    return loop.kind in ("evaluation", "decoding") and any(isinstance(part, ir.Handler) for part in around)


def _cut_by_numbers(m: State, loop: Loop) -> str:
    """Return a tensor of the device that the iterations index by a number, a different one each: the number
    is part of the graph, so a boundary makes each iteration a graph of its own. "" where there is none."""
    inside = range(loop.node.start, loop.node.end)
    for event in m.recorder.all():
        if event.fact is ChangingConstant and event.node.start in inside and event.fields.get("tensor"):
            tensor = m.env.get(event.fields["tensor"])
            if tensor is not None and tensor.kind == "tensor" and sureness(tensor) >= LIKELY:
                return str(event.fields["tensor"])
    return ""


def _leaves_results(m: State, loop: Loop, effects: Effects) -> bool:
    """Return whether the reads of a loop leave results of the iterations to be computed."""
    if loop.kind == "decoding":
        if not effects.happens(Effect.RESULT_READ, Effect.POSSIBLE_READ):
            return True
        called = Effect.CALLED_READ in effects.must
        unknown = Effect.POSSIBLE_READ in effects.must or (called and not effects.read_names)
        return not unknown and reads_apart(m, loop, effects.read_names if called else frozenset())
    return loop.kind == "evaluation" and _kept(m, loop)


def _kept(m: State, loop: Loop) -> bool:
    """Return whether a list keeps tensors of the device that no read of the iteration is of: a read executes
    what it needs, and leaves the rest to be computed."""
    inside = range(loop.node.start, loop.node.end)
    events = (event for event in m.recorder.all() if event.fact is HostRead and event.node.start in inside)
    read = {event.fields["tensor"] for event in events}
    return any(short(m.source(_attached(value))) not in read for value in _appended(m, loop))


def _appended(m: State, loop: Loop) -> Iterator[ir.Expr]:
    """Yield what the iterations append to lists of tensors of the device, and the lists that they give to
    functions which append to them."""
    fresh = replaced(loop.node)

    def is_kept(owner: ir.Expr) -> bool:
        path = path_of(owner)
        kept = m.env.get(path) if path and path not in fresh else None
        if kept is None or kept.kind != "sequence" or kept.trait not in (Mark.APPENDED, Mark.GROWS):
            return False
        tensor = element_of(kept)
        return tensor.kind == "tensor" and sureness(tensor) >= LIKELY

    calls = [n for statement in loop.node.body for n in ir.walk(statement) if isinstance(n, ir.Call)]
    here: set[str] = set()
    for call in calls:
        match call:
            case ir.Call(func=ir.Attribute(value=owner, attr="append"), args=(arg,)) if is_kept(owner):
                here.add(path_of(owner))
                yield arg.value
    for call in calls:
        if isinstance(call.func, ir.Name) and m.frame.scope.lookup(call.func.id):
            given = (arg.value for arg in call.args)
            yield from (value for value in given if path_of(value) not in here and is_kept(value))


def _attached(value: ir.Expr) -> ir.Expr:
    """Return `x` of `x.detach()`, which is the same tensor."""
    match value:
        case ir.Call(func=ir.Attribute(value=inner, attr="detach")):
            return inner
    return value
