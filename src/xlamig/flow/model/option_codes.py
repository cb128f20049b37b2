"""The values that an option may have, coded as words.

OFF, ON, FINITE for another number, and UNKNOWN; the name of another option whose value it is, after READ if
something else than a function's own parameter holds it; and such a name after NOT for its opposite, after
ONLY_IF for a value that is false at least where that option is off.
"""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of

OFF, ON, FINITE, UNKNOWN = "-", "+", "#", "?"
CONSTANTS = frozenset({OFF, ON, FINITE, UNKNOWN})
NOT, ONLY_IF, READ = "!", "&", "@"

Codes = frozenset[str]
ANY: Codes = frozenset({UNKNOWN})

_FIELDS = frozenset({"field", "Field", "ib", "attrib"})
_SAME = frozenset({"bool", "int", "float"})
_MAX_DEPTH = 4


def option_of(node: ir.Expr) -> str:
    """Return the option that an expression reads: the last name of `x`, `cfg.x`, `cfg["x"]`, `cfg.get("x")`
    and `getattr(cfg, "x", False)`; "" for others."""
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return name
        case ir.Subscript(index=(ir.Const(value=str(name)),)):
            return name
        case ir.Call(func=ir.Name(id="getattr"), args=(_, ir.Arg(value=ir.Const(value=str(name))), *_)):
            return name
        case ir.Call(
            func=ir.Attribute(attr="get" | "pop"), args=(ir.Arg(value=ir.Const(value=str(name))), *_)
        ):
            return name
        case ir.Call(func=ir.Name(id=called), args=(ir.Arg(value=value),)) if called in _SAME:
            return option_of(value)
    return ""


def asked_by(test: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the expressions whose truth or size a test asks for."""
    match test:
        case ir.Unary(op="not", operand=operand):
            yield from asked_by(operand)
        case ir.Compare(left=left, comparators=others):
            yield left
            yield from others
        case ir.Bool():
            pass  # its own node
        case _:
            yield test


def codes_of(node: ir.Expr, scope: Scope, depth: int = 0) -> Codes:
    """Return the codes of the values that an expression may have in a scope."""
    if depth > _MAX_DEPTH:
        return ANY
    match node:
        case ir.Const(value=value):
            return frozenset({code_of(value)})
        case ir.Unary(op="not", operand=operand):
            return frozenset(map(_opposite, codes_of(operand, scope, depth + 1)))
        case ir.Bool(op="and", values=values):
            known = (codes_of(value, scope, depth + 1) for value in values)
            single = [
                code
                for codes in known
                if len(codes) == 1
                for code in codes
                if code not in (ON, FINITE, UNKNOWN)
            ]
            return frozenset({_only_if(single[0]) if single else UNKNOWN})
        case ir.Bool(values=values):
            return frozenset().union(*(codes_of(value, scope, depth + 1) for value in values))
        case ir.IfExp(body=body, orelse=orelse):
            return codes_of(body, scope, depth + 1) | codes_of(orelse, scope, depth + 1)
        case ir.Name(id=name):
            return _local(scope.lookup(name), name, depth)
        case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _FIELDS:
            default = next((a.value for a in args if a.keyword == "default"), None)
            return codes_of(default, scope, depth + 1) if default is not None else ANY
    option = option_of(node)
    if not option:
        return ANY
    own = isinstance(node, ir.Attribute) and path_of(node).startswith("self.")
    return frozenset({option if own else READ + option}) | otherwise(node, scope, depth)


def otherwise(node: ir.Expr, scope: Scope, depth: int = 0) -> Codes:
    """Return the codes of the default in `cfg.get("x", False)` and `getattr(cfg, "x", False)`."""
    match node:
        case (
            ir.Call(func=ir.Name(id="getattr"), args=(_, _, default))
            | ir.Call(func=ir.Attribute(attr="get" | "pop"), args=(_, default))
        ):
            return codes_of(default.value, scope, depth + 1)
    return frozenset()


def _local(bindings: list[Binding], name: str, depth: int) -> Codes:
    """Return the codes of a name: a parameter and what the module binds are options by their name."""
    found: set[str] = set()
    for binding in bindings:
        if binding.kind in ("param", "import") or binding.scope.kind != "function":
            found.add(name)
        elif binding.kind == "value" and binding.value is not None:
            found |= codes_of(binding.value, binding.scope, depth + 1)
        else:
            found.add(UNKNOWN)
    return frozenset(found or {name})


def code_of(value: object) -> str:
    """Return the code of a constant."""
    if value is True:
        return ON
    if value is False or (type(value) in (int, float) and value == 0):
        return OFF
    return FINITE if isinstance(value, int | float) else UNKNOWN


def _opposite(code: str) -> str:
    if code in (OFF, ON):
        return ON if code == OFF else OFF
    if code == FINITE:
        return OFF
    if code[0] in (UNKNOWN, ONLY_IF):
        return UNKNOWN
    return code[1:] if code[0] == NOT else NOT + code.removeprefix(READ)


def _only_if(code: str) -> str:
    if code == OFF or code[0] in (ONLY_IF, UNKNOWN):
        return code
    return UNKNOWN if code[0] == NOT else ONLY_IF + code.removeprefix(READ)
