"""Classes of the module that are wrappers of torch for several devices, with methods of their own."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope
from xlamig.knowledge import values as table

_RUNS = frozenset({"__init__", "forward"})  # without devices the base calls nothing else


def wrapper_of(func: ir.Expr, scope: Scope, names: Names) -> str:
    """Return the wrapper that a class of the module is one of, if it changes neither its arguments nor how it
    runs: `class DP(nn.DataParallel)` with a `__getattr__`; "" for other callees."""
    bound = scope.lookup(func.id) if isinstance(func, ir.Name) else []
    made = bound[0].node if len(bound) == 1 else None
    if not isinstance(made, ir.ClassDef) or len(made.args) != 1:
        return ""
    if any(isinstance(part, ir.FunctionDef) and part.name in _RUNS for part in made.body):
        return ""
    base = names.dotted(made.args[0].value, bound[0].scope) or ""
    wrappers = (table.names("program", key) for key in ("data-parallel", "replicates"))
    return base if any(base in known for known in wrappers) else ""
