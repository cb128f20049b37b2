"""Functions outside a class that methods hand their object to, as `self`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir


def free_methods(module: ir.Module) -> Iterator[tuple[ir.FunctionDef, ir.ClassDef]]:
    """Yield each function that the methods of one class alone call as `f(self)`, with the class: it uses and
    assigns the attributes of its objects."""
    functions = {s.name: s for s in module.body if isinstance(s, ir.FunctionDef) and _takes_self(s)}
    if not functions:
        return
    owners: dict[str, list[ir.ClassDef]] = {}
    for owner in (statement for statement in module.body if isinstance(statement, ir.ClassDef)):
        for name in functions.keys() & set(_called_with_self(owner)):
            owners.setdefault(name, []).append(owner)
    yield from ((functions[name], found[0]) for name, found in owners.items() if len(found) == 1)


def _takes_self(function: ir.FunctionDef) -> bool:
    return bool(function.params) and function.params[0].name == "self"


def _called_with_self(owner: ir.ClassDef) -> Iterator[str]:
    """Yield the names of the functions that a class calls with `self` as the first argument."""
    for node in ir.walk(owner):
        match node:
            case ir.Call(func=ir.Name(id=name), args=(ir.Arg(value=ir.Name(id="self"), keyword=None), *_)):
                yield name
