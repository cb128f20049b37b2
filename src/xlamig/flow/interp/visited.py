"""The state of a caller's module that goes on in the module of the function it calls."""

from __future__ import annotations

from xlamig.flow.interp.interpreter import AbstractInterpreter

_PASSED = (
    "frequency", "seldom", "first_pass", "synced", "settled", "forwards", "device_op_count", "waiting",
    "wait_count", "message", "logging", "caller", "callers_known", "comprehension_depth", "collating",
    "batches", "iteration_sources", "loops", "default_place", "plain_place", "swaps", "left",
    "entered_from_host", "met_host", "result_moved", "ways", "kept_off",
)  # fmt: skip
_RETURNED = (
    "device_op_count", "waiting", "wait_count", "default_place", "plain_place", "swaps", "left", "met_host",
)  # fmt: skip


class visited:
    """While a function runs, its module goes on where its caller stands."""

    def __init__(self, home: AbstractInterpreter, caller: AbstractInterpreter) -> None:
        self.home = home
        self.caller = caller

    def __enter__(self) -> None:
        home = self.home
        self.before = {name: getattr(home, name) for name in _PASSED}
        self.branches, home.taken_branches = home.taken_branches, {}
        for name in _PASSED:
            setattr(home, name, getattr(self.caller, name))

    def __exit__(self, *_: object) -> None:
        for name in _RETURNED:
            setattr(self.caller, name, getattr(self.home, name))
        for name, value in self.before.items():
            setattr(self.home, name, value)
        self.home.taken_branches = self.branches
