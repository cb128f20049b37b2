"""The functions that calls name, coded as words, before it is known what other modules define."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.option_codes import CALLED, INSTANCE
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

SUPER = "super() "
"""Before the name of a class: its calls of the constructor above."""
HANDED = "handed "
"""Before the name of what a call is handed first: the call's other arguments, which it may pass on."""
OWN = "own "
"""Before the name of a function or class at the top of the module: calls of this one alone."""
IMPORTED = "imported "
"""Before the path of a name that an import alone binds: calls of what it leads to."""


def callee_of(node: ir.Call, name: str, scope: Scope) -> str:
    """Return what a call with the last `name` calls: INSTANCE before the name of an object's method."""
    func = node.func
    above = func.value if isinstance(func, ir.Attribute) else None
    if isinstance(func, ir.Attribute) and isinstance(above, ir.Call) and path_of(above.func) == "super":
        owner = scope.class_scope
        made = owner is not None and func.attr == "__init__"
        return SUPER + owner.name.rpartition(".")[2] if owner and made else func.attr
    if name == "__init__":
        return path_of(func).rpartition(".")[0].rpartition(".")[2]
    if not name:
        return func.attr if isinstance(func, ir.Attribute) else INSTANCE
    first = path_of(func).partition(".")[0]
    bindings = scope.lookup(first)
    of_object = first == "self" or any(b.kind in ("param", "value", "opaque") for b in bindings)
    if of_object and name not in CALLED and not _is_of_tensor(node, name):
        return INSTANCE + name
    return CALLED[name] if name in CALLED else named_in(func, scope)


def named_in(node: ir.Expr, scope: Scope) -> str:
    """Return the function or class that an expression names: the last name of a path."""
    path = path_of(node)
    first, dot, rest = path.partition(".")
    bindings = scope.lookup(first) if first else []
    own = all(b.kind in ("function", "class") and b.scope.kind == "module" for b in bindings)
    if bindings and own and not rest:
        return OWN + path
    if {b.kind for b in bindings} == {"import"} and len({b.dotted for b in bindings}) == 1:
        return f"{IMPORTED}{bindings[0].dotted}{dot}{rest}"
    return path.rpartition(".")[2]


def _is_of_tensor(node: ir.Call, name: str) -> bool:
    """Return whether a call is one of a tensor's method, and not of a module's part, which has one input."""
    if signatures.signature(f"Tensor.{name}") is None:
        return False
    return len(node.args) > 1 or name not in table.names("evidence", "parts")
