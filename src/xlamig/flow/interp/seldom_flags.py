"""Flags that hold in some steps only, as a caller passes them: `update(x, log=step % 100 == 0)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import BOOL, AbstractValue, Mark
from xlamig.flow.interp.intervals import runs_seldom
from xlamig.flow.interp.state import State

_OFTEN = ("step", "interval")
_TESTS = (ir.Name, ir.Attribute, ir.Compare, ir.Bool, ir.Unary, ir.IfExp, ir.Call)


def with_frequency(m: State, node: ir.Expr, thing: AbstractValue) -> AbstractValue:
    """Return the value of an argument; a flag that holds in some steps only remembers it."""
    flag = thing.kind in ("bool", "unknown") and isinstance(node, _TESTS)
    if not flag or m.frequency not in _OFTEN:
        return thing
    seldom = runs_seldom(m.frequency_guards, node, m.frame, m.loops, True)
    return BOOL.replace(trait=Mark.SELDOM) if seldom else thing
