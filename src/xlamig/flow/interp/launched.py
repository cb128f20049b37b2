"""Functions that a launcher starts a program or a process with: `spawn(train, args=(options,))`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import TOP
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def run_launched(m: State, name: str, args: Args, node: ir.Call) -> None:
    """Run the function that a call of `name` starts a program or a process with."""
    launcher = table.launcher(name)
    called = args.get(*launcher.function) if launcher is not None else None
    if launcher is None or called is None or called.kind != "function":
        return
    with Setting(m, "loops", []), Setting(m, "waiting", False), m.branch():
        m.semantics.reach(called, node, _given(launcher, args))


def _given(launcher: table.Launcher, args: Args) -> Args:
    """Return the arguments that a launcher calls its function with, as far as they are known."""
    position, name = launcher.given
    first = [TOP] * launcher.first
    given = args.get(position, name) if name else None
    if not name or args.starred or (given is not None and given.items is None):
        return Args(first, starred=True)
    return Args([*first, *(given.items or () if given is not None else ())])
