"""Readings of a clock, and the time between two of them."""

from __future__ import annotations

from dataclasses import replace

from xlamig import ir
from xlamig.facts import Timing, Why
from xlamig.flow.interp.carried_names import read_after
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Clock, Made
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def record_interval(m: State, end: AbstractValue, start: AbstractValue) -> None:
    """Record `time.time() - start` around device work that was only queued. The first run of a loop's body
    does not know yet which reading an iteration begins with: the second records."""
    if m.first_pass or not isinstance(end.trait, Clock) or not isinstance(start.trait, Clock):
        return
    if not isinstance(end.ref, Made) or not isinstance(start.ref, Made) or _is_dropped(m):
        return
    node, statement, _ = end.ref
    if m.loops and end.trait.waits > start.trait.waits:
        return  # what an iteration queues after its read, the next one waits for
    around = (loop.works_before for loop in m.loops if loop.id == start.trait.carried_by)
    if end.trait.works > max(start.trait.works, *around, 0) and end.trait.waiting:
        begin, home = start.ref.node, m.program.home_of(start.ref.statement) or m
        why = Why("the first reading of the clock", (begin.start, begin.end)).of(home.filename)
        m.record(Timing, node, LIKELY, (why,), at=statement, clock=short(m.source(node, statement)))


def _is_dropped(m: State) -> bool:
    """Return whether the statement assigns the time to a name of its function that nothing reads: `_ = t - s`
    in a loop that warms the device up."""
    function = m.frame.scope.node
    match m.statement:
        case ir.Assign(targets=(ir.Name(id=name),)) if isinstance(function, ir.FunctionDef):
            return name not in m.frame.scope.outer_names and name not in read_after(function, function.start)
    return False


def wait_for_loss(m: State, method: ir.Attribute) -> None:
    """Record that `loss.item()` waits for the device, whatever is known of the loss."""
    if method.attr == "item" and table.name_like("loss").search(path_of(method.value).rpartition(".")[2]):
        m.wait()


def carried_reading(old: AbstractValue, new: AbstractValue, loop: int) -> AbstractValue | None:
    """Return the reading that an iteration begins with: of the iteration before, or where only some take one,
    of before the loop. None for values that are not readings."""
    if not isinstance(old.trait, Clock) or not isinstance(new.trait, Clock):
        return None
    reading = new if isinstance(new.ref, Made) else old
    assert isinstance(reading.trait, Clock)
    return reading.replace(trait=replace(reading.trait, carried_by=loop))
