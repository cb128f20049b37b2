"""Functions that an object of another library calls every step: `Engine(update)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import TOP, AbstractValue
from xlamig.flow.interp.frames import Loop, functions_of
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.interp.step_boundaries import record_boundary
from xlamig.flow.model.effects import Effect
from xlamig.knowledge import values as table


def run_step_function(m: State, name: str, args: Args, node: ir.Call) -> None:
    """Run the function that a call of `name` gives an object to call every step."""
    place = table.step_function(name)
    given = args.get(*place) if place is not None else None
    if given is None or given.kind != "function":
        return
    why = Why(f"`{name.rpartition('.')[2]}` calls it every step", (node.start, node.end))
    loop = _calls_of(m, given)
    loops = [] if loop is None else [loop]
    with Setting(m, "frequency", "step"), Setting(m, "loops", loops), Setting(m, "caller", (why,)):
        with m.branch() as effects:
            m.semantics.reach(given, node, Args())
        if loop is not None and loop.update is not None and effects.happens(Effect.BACKWARD, Effect.GRADIENT):
            record_boundary(m, loop, effects, TOP, at=ir.statement_of(loop.update, loop.node))


def _calls_of(m: State, given: AbstractValue) -> Loop | None:
    """Return the calls of a function of this module as a loop whose body is the function's; None for a
    function of another module, and where several may be meant."""
    functions = functions_of(given)
    function = functions[0].node if len(functions) == 1 else None
    if not isinstance(function, ir.FunctionDef) or functions[0].frame.home != m.names.module:
        return None
    head = ir.Name(function.start, function.body[0].start, "")
    body = ir.For(function.start, function.end, head, head, function.body, (), False)
    return Loop(body, "training", called=True, base=m.base)
