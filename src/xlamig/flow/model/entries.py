"""Entries of settings that a program itself writes: of a dictionary, `S["precision"]` for `S = {...}`, and
of the configuration that Sacred makes of the local names of an `@ex.config` function, for `main(_config)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import Scalar, Value
from xlamig.flow.model.known import Known
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.flow.model.values import Values
from xlamig.knowledge import values as table


def known_argument(values: Values, node: ir.Expr, scope: Scope) -> Known:
    """Return what an argument is known to be; an entry may always be set otherwise."""
    match node:
        case ir.Subscript(value=ir.Name(id=holder), index=(ir.Const(value=str(key)),)):
            for constant in _entries(values, holder, key, scope):
                return Known(Value("constant", constant), sure=False)
    return values.of(node, scope)


def settings_of(module: ir.Module) -> dict[str, Scalar]:
    """Return the constants that configuration functions set last, each as "object[name]"."""
    found: dict[str, Scalar] = {}
    for node in (node for node in module.body if isinstance(node, ir.FunctionDef)):
        for statement in node.body if any(_owners(node, "defines")) else ():
            match statement:
                case ir.Assign(
                    targets=(ir.Name(id=name),), value=ir.Const(value=str() | int() | float() as value)
                ):
                    found |= {f"{owner}[{name}]": value for owner in _owners(node, "defines")}
    return found


def _entries(values: Values, holder: str, key: str, scope: Scope) -> Iterator[Scalar]:
    """Yield the constant behind an entry of what a name holds, if there is one."""
    bindings = [b for b in scope.find(holder) if not _copies(b, holder)]
    if len(bindings) != 1 or _is_set(holder, key, values.text):
        return
    match bindings[0]:
        case Binding(kind="value", value=ir.Dict(keys=keys, values=held)):
            for name, value in zip(keys, held, strict=True):
                match name, value:
                    case ir.Const(value=str(given)), ir.Const(value=str() | int() | float() as known):
                        yield from (known,) if given == key else ()
        case Binding(kind="param"):
            function = scope.home(holder).node
            for owner in _owners(function, "runs") if isinstance(function, ir.FunctionDef) else ():
                yield from _configured(values, f"{owner}[{key}]", owner, scope)


def _configured(values: Values, entry: str, owner: str, scope: Scope) -> Iterator[Scalar]:
    """Yield a setting of this module, or of the one that its object is imported from."""
    if values.module is not None and entry in (own := settings_of(values.module)):
        yield own[entry]
    for binding in scope.lookup(owner):
        if binding.kind == "import":
            dotted = f"{binding.dotted}{entry.removeprefix(owner)}"
            export = values.names.project.resolve(dotted, values.names.module)
            if export is not None and export.kind == "constant":
                yield export.constant


def _owners(function: ir.FunctionDef, role: str) -> Iterator[str]:
    """Yield the objects whose methods of a role decorate a function: `ex` for `@ex.config`."""
    for decorator in function.decorators:
        called = decorator.func if isinstance(decorator, ir.Call) else decorator
        owner, _, method = path_of(called).rpartition(".")
        if owner and method in table.names("configured", role):
            yield owner


def _copies(binding: Binding, name: str) -> bool:
    """Return whether a binding is a copy of the same name: `config = copy.deepcopy(config)`."""
    match binding.value:
        case ir.Call(args=(ir.Arg(value=ir.Name(id=other)),)):
            return other == name
    return False


def _is_set(holder: str, key: str, text: str) -> bool:
    """Return whether a statement gives the entry another value."""
    return re.search(rf"\b{re.escape(holder)}\[[\"']{re.escape(key)}[\"']\]\s*=(?!=)", text) is not None
