"""Modules of which a network has several, such as the layers of a stack."""

from __future__ import annotations

from xlamig.flow.interp.state import State
from xlamig.flow.model.built_in_loops import is_built_in_loop


def is_of_block(m: State) -> bool:
    """Return whether a module's method runs now, and a loop builds several modules of its class."""
    around = m.frame.scope.class_scope
    return runs_in_module(m) and around is not None and is_built_in_loop(m.analysis.module, around.node)


def runs_in_module(m: State) -> bool:
    """Return whether a method of a module runs now."""
    own = m.env.get("self")
    return own is not None and own.kind == "module"
