"""Classes of torch that a program looks up by an option: in a dictionary, as a parameter, or by `getattr`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.values import Values

_MAX_STEPS = 3  # from one name to the next
_CASES = {"upper": str.upper, "lower": str.lower, "title": str.title, "capitalize": str.capitalize}


def chosen(func: ir.Expr, scope: Scope, names: Names, values: Values) -> list[str]:
    """Return the canonical names that the callee may stand for, in the order of the text; none where the
    callee itself is one name."""
    return list(dict.fromkeys(_meanings(func, scope, names, values, 0)))


def _meanings(func: ir.Expr, scope: Scope, names: Names, values: Values, depth: int) -> Iterator[str]:
    match func:
        case ir.Subscript(value=table):
            yield from _entries(table, scope, names)
        case ir.Call(func=ir.Name(id="getattr"), args=(ir.Arg(value=module), ir.Arg(value=word), *_)):
            owner = names.dotted(module, scope)
            if owner is not None:
                yield from (f"{owner}.{text}" for text in _texts(word, scope, values))
        case ir.Call(func=ir.Attribute(value=table, attr="get")):
            yield from _entries(table, scope, names)
        case ir.Name() | ir.Attribute() if depth < _MAX_STEPS:
            for bound in scope.find(path_of(func)) if path_of(func) else ():
                name = names.dotted(bound.value, bound.scope) if bound.value is not None else None
                if name is not None:
                    yield name
                elif bound.value is not None:
                    yield from _meanings(bound.value, bound.scope, names, values, depth + 1)


def _entries(table: ir.Expr, scope: Scope, names: Names) -> Iterator[str]:
    """Yield what the values of a dictionary mean that stands here, or that a name holds."""
    tables = [(table, scope)]
    if not isinstance(table, ir.Dict):
        path = path_of(table)
        tables = [(b.value, b.scope) for b in scope.find(path) if b.value is not None] if path else []
    for held, where in tables:
        for value in held.values if isinstance(held, ir.Dict) else ():
            name = names.dotted(value, where)
            if name is not None:
                yield name


def _texts(word: ir.Expr, scope: Scope, values: Values) -> Iterator[str]:
    """Yield the texts that a name may hold: its default, an option's, and those that it is compared with."""
    match word:
        case ir.Call(func=ir.Attribute(value=inner, attr=case), args=()) if case in _CASES:
            yield from map(_CASES[case], _texts(inner, scope, values))
            return
    yield from _text_of(values.of(word, scope).value.value)
    path = path_of(word)
    if not path:
        return
    for bound in scope.find(path):
        if isinstance(bound.value, ir.Const):
            yield from _text_of(bound.value.value)
    default, _ = values.options.get(path.rpartition(".")[2], (None, ()))
    yield from _text_of(default)
    for part in ir.walk(scope.node) if scope.node is not None else ():
        if isinstance(part, ir.Compare) and path in map(path_of, (part.left, *part.comparators)):
            for one in ir.walk(part):
                yield from _text_of(one.value) if isinstance(one, ir.Const) else ()


def _text_of(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.isidentifier():
        yield value
