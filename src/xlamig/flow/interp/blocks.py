"""Modules of which a network has several, such as the layers of a stack."""

from __future__ import annotations

from xlamig.flow.interp.state import State
from xlamig.flow.model.built_in_loops import is_built_in_loop


def is_of_block(m: State) -> bool:
    """Return whether a module's method runs now, and a loop builds several modules of its class."""
    around, own = m.frame.scope.class_scope, m.env.get("self")
    in_module = own is not None and own.kind == "module"
    return in_module and around is not None and is_built_in_loop(m.analysis.module, around.node)
