"""Lists with as many elements as a test of values lets through: `[x for x in xs if x.sum() > 0]`, and what
is appended under such a test. Each number of elements is another program where they are joined."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import DynamicShape, Why
from xlamig.flow.interp.domain import BOOL, LIKELY, POSSIBLE, AbstractValue, Mark
from xlamig.flow.interp.frames import STEPS, Env, Loop
from xlamig.flow.interp.reads import VALUE_SIZES, sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

_SAMPLED = (*STEPS, "epoch")


def is_let_through(thing: AbstractValue) -> bool:
    """Return whether values decide how many elements a list has."""
    return thing.kind == "sequence" and thing.cause == "read" and thing.sure >= LIKELY


def filtered(
    m: State, node: ir.Comprehension, made: AbstractValue, tests: Sequence[AbstractValue]
) -> AbstractValue:
    """Return what a comprehension makes: as many elements as its tests let through."""
    written = [test for generator in node.generators for test in generator.ifs]
    for test, thing in zip(written, tests, strict=True):
        if _asks_values(m, thing) or _asks_samples(m, node, test):
            return _marked(m, made, test)
    return made


def appended(
    m: State, node: ir.If, tested: AbstractValue, before: Env, ends: Sequence[Env | None], joined: Env
) -> Env:
    """Return the lists of an inner loop to which only one branch of a test of values appends; where a branch
    goes on with the next iteration, what comes after the test appends on those terms."""
    inner = bool(m.loops) and m.loops[-1].kind not in _SAMPLED
    if not inner or not _asks_values(m, tested):
        return {}
    grown = []
    for body, end in zip((node.body, node.orelse), ends, strict=True):
        if end is None:
            if isinstance(body[-1], ir.Jump) and body[-1].kind == "continue":
                m.loops[-1].skips = node.test
            return {}
        grown.append({name for name, thing in end.items() if _grew(thing, before.get(name, thing))})
    lists = {name: joined[name] for name in grown[0] ^ grown[1] if name in joined}
    return {n: _marked(m, made, node.test) for n, made in lists.items() if _outlives(made, m.loops[-1])}


def after_skip(m: State, made: AbstractValue) -> AbstractValue:
    """Return a list to which an iteration appends that values may have ended before."""
    for loop in m.loops:
        if loop.skips is not None and loop.kind not in _SAMPLED and _outlives(made, loop):
            return _marked(m, made, loop.skips)
    return made


def negated(test: AbstractValue) -> AbstractValue:
    """Return the value of `not test`, which asks for the values that the test asks for."""
    if test.kind == "tensor" and sureness(test) > POSSIBLE:
        return BOOL.replace(cause="read", sure=min(test.sure, LIKELY), why=test.why)
    if test.cause not in ("random", *VALUE_SIZES):
        return BOOL
    return BOOL.replace(cause=test.cause, loop=test.loop, why=test.why)


def as_let_through(made: AbstractValue, *sources: AbstractValue) -> AbstractValue:
    """Return a list that is made of others, one of which may have as many elements as values decide."""
    lead = next(filter(is_let_through, sources), None)
    return made if lead is None else made.replace(cause="read", sure=LIKELY, why=lead.why, loop=lead.loop)


def record_let_through(
    m: State, node: ir.Node, given: AbstractValue, operation: str, tensor: str = ""
) -> bool:
    """Record that a list with as many elements as values decide makes a tensor of the device every step, or
    picks rows of one; return whether that is so."""
    if not is_let_through(given) or m.frequency != "step":
        return False
    text = short(m.source(node))
    m.record(
        DynamicShape, node, LIKELY, given.why, via="filtered", operation=operation, tensor=tensor, mask=text
    )
    return True


def _marked(m: State, made: AbstractValue, test: ir.Expr) -> AbstractValue:
    why = Why(f"`{short(m.source(test))}` lets through as many as values say", (test.start, test.end))
    return made.replace(items=None, cause="read", sure=LIKELY, why=(why,))


def _asks_values(m: State, thing: AbstractValue) -> bool:
    """Return whether a test asks for the values of a tensor of the device, again and again."""
    if not m.repeating:
        return False
    read = thing.kind == "tensor" and sureness(thing) > POSSIBLE
    return read or (thing.cause in VALUE_SIZES and thing.sure > POSSIBLE)


def _asks_samples(m: State, node: ir.Comprehension, test: ir.Expr) -> bool:
    """Return whether a test leaves out the samples that lack a field: `[s for s in batch.next_state if s is
    not None]` with `batch = Transition(*zip(*transitions))`."""
    match test, node.generators:
        case (
            ir.Compare(left=ir.Name(id=asked), ops=("is not",), comparators=(ir.Const(value=None),)),
            (ir.Generator(target=ir.Name(id=name), iter=ir.Attribute() | ir.Name() as samples),),
        ) if asked == name and m.frequency == "step":
            bound = m.frame.scope.bindings.get(path_of(samples).partition(".")[0], ())
            values = [binding.value for binding in bound]
            return len(values) == 1 and values[0] is not None and _is_transposed(values[0])
    return False


def _is_transposed(made: ir.Expr) -> bool:
    """Return whether a call takes the fields of several samples: `Transition(*zip(*samples))`."""
    match made:
        case ir.Call(func=ir.Name(id="zip"), args=(ir.Arg(star="*"),)):
            return True
        case ir.Call(args=(ir.Arg(value=inner, star="*"),)):
            return _is_transposed(inner)
    return False


def _outlives(made: AbstractValue, loop: Loop) -> bool:
    """Return whether a list is made before a loop; `ref` is where."""
    return not isinstance(made.ref, int) or not loop.node.start <= made.ref < loop.node.end


def _grew(thing: AbstractValue, before: AbstractValue) -> bool:
    listed = thing.kind == "sequence" and thing.trait in (Mark.APPENDED, Mark.GROWS)
    return listed and thing is not before
