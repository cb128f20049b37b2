"""Functions that an object of a library runs every step because they wait for an event of it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def run_by_events(module: ir.Module, text: str) -> frozenset[str]:
    """Return the names of the functions that wait for an event of each step: `@trainer.on(Events.STEP)`,
    `trainer.add_event_handler(Events.STEP, log)`."""
    if not any(event.rpartition(".")[2] in text for event in table.names("step-events", "events")):
        return frozenset()
    decorated = (f for f in of_kind(module, ir.FunctionDef) if any(map(_waits, f.decorators)))
    added = (name for call in of_kind(module, ir.Call) for name in _added(call))
    return frozenset((*(function.name for function in decorated), *added))


def _waits(node: ir.Expr) -> bool:
    if not isinstance(node, ir.Call):
        return False
    return _method(node) in table.names("step-events", "decorators") and _is_step(node)


def _added(call: ir.Call) -> Iterator[str]:
    if _method(call) in table.names("step-events", "adders") and _is_step(call) and len(call.args) > 1:
        yield path_of(call.args[1].value).rpartition(".")[2]


def _method(call: ir.Call) -> str:
    return call.func.attr if isinstance(call.func, ir.Attribute) else ""


def _is_step(call: ir.Call) -> bool:
    """Return whether the first argument of a call is an event of each step; one that is called,
    `Events.STEP(every=100)`, happens in some steps."""
    event = path_of(call.args[0].value) if call.args else ""
    known = table.names("step-events", "events")
    return any(f".{event}".endswith(f".{one}") for one in known)
