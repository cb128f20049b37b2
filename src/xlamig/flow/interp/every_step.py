"""Functions that an object of another library calls every step: `Engine(update)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def run_step_function(m: State, name: str, args: Args, node: ir.Call) -> None:
    """Run the function that a call of `name` gives an object to call every step."""
    place = table.step_function(name)
    given = args.get(*place) if place is not None else None
    if given is None or given.kind != "function":
        return
    why = Why(f"`{name.rpartition('.')[2]}` calls it every step", (node.start, node.end))
    with Setting(m, "frequency", "step"), Setting(m, "loops", []), Setting(m, "caller", (why,)), m.branch():
        m.semantics.reach(given, node, Args())
