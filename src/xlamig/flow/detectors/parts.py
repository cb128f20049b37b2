"""List the parts of a module: its classes and functions, and its literal sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import Span
from xlamig.flow.model.by_kind import of_kind, owner_at_top
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge.sizes import size_names


class RawPart(NamedTuple):
    """A class or function at the top of a module, or what the module itself calls. `bases` and
    `decorators` are dotted names where they are known, `members` are methods, `calls` says how often
    it calls which API of torch."""

    name: str
    kind: str  # "class" | "function" | "module"
    bases: tuple[str, ...]
    members: tuple[str, ...]
    decorators: tuple[str, ...]
    calls: tuple[tuple[str, int], ...]
    span: Span


class RawSize(NamedTuple):
    """A literal size: `kind` as in `knowledge.sizes`, `owner` the part it stands in, `given` and `callee`
    as in `findings.Size`."""

    kind: str
    name: str
    value: int
    owner: str
    span: Span
    given: str
    callee: str


Calls = Mapping[str, Counter[str]]
"""Torch APIs called, by the part that calls them; "" is the module itself."""


def owner_of(scope: Scope) -> str:
    """The part of a module that a scope belongs to, "" for the module itself."""
    name = ""
    while scope.parent is not None:
        if scope.kind != "expression":
            name = scope.name
        scope = scope.parent
    return name


def parts_of(module: ir.Module, scope: Scope, names: Names, calls: Calls) -> tuple[RawPart, ...]:
    """The parts in source order; a name that is defined twice gives two."""
    parts = list(_parts(module.body, scope, names, calls))
    if calls.get(""):
        own = tuple(sorted(calls[""].items()))
        parts.append(RawPart("", "module", (), (), (), own, (module.start, module.end)))
    return tuple(parts)


def _parts(body: ir.Block, scope: Scope, names: Names, calls: Calls) -> Iterator[RawPart]:
    for node in body:
        if isinstance(node, ir.If):
            yield from _parts((*node.body, *node.orelse), scope, names, calls)
        elif isinstance(node, ir.Try):
            handled = (statement for handler in node.handlers for statement in handler.body)
            yield from _parts((*node.body, *handled, *node.orelse), scope, names, calls)
        elif isinstance(node, ir.ClassDef | ir.FunctionDef):
            bases = [arg.value for arg in node.args] if isinstance(node, ir.ClassDef) else []
            made = sorted(calls.get(node.name, {}).items())
            yield RawPart(
                node.name,
                "class" if isinstance(node, ir.ClassDef) else "function",
                tuple(filter(None, (names.dotted(base, scope) or path_of(base) for base in bases))),
                _members(node) if isinstance(node, ir.ClassDef) else (),
                tuple(_decorators(node, scope, names)),
                tuple(made),
                (node.start, node.end),
            )


def _members(node: ir.ClassDef) -> tuple[str, ...]:
    return tuple(statement.name for statement in node.body if isinstance(statement, ir.FunctionDef))


def _decorators(node: ir.ClassDef | ir.FunctionDef, scope: Scope, names: Names) -> Iterator[str]:
    for decorator in node.decorators:
        called = decorator.func if isinstance(decorator, ir.Call) else decorator
        dotted = names.dotted(called, scope) or path_of(called)
        if dotted:
            yield dotted


def sizes_of(module: ir.Module, text: str) -> tuple[RawSize, ...]:
    """Sizes given as integer literals: keyword arguments, defaults, assignments, entries of dicts."""
    if not any(name in text for name in size_names()):
        return ()
    found: list[RawSize] = []
    for node in (node for kind in _WITH_SIZES for node in of_kind(module, kind)):
        for name, value, given, callee in _given(node):
            known = size_names().get(name)
            if known is None or not isinstance(value, ir.Const):
                continue
            size = value.value
            if isinstance(size, int) and not isinstance(size, bool) and size >= known.least:
                span = (value.start, value.end)
                found.append(RawSize(known.kind, name, size, owner_at_top(module, node), span, given, callee))
    return tuple(sorted(found, key=lambda size: size.span))


_WITH_SIZES: tuple[type[ir.Node], ...] = (ir.Call, ir.Param, ir.Assign, ir.AnnAssign, ir.Dict)


def _given(node: ir.Node) -> Iterator[tuple[str, ir.Expr, str, str]]:
    match node:
        case ir.Call(func=func, args=args):
            callee = path_of(func).rpartition(".")[2]
            yield from ((arg.keyword, arg.value, "call", callee) for arg in args if arg.keyword)
        case ir.Param(name=name, default=ir.Expr() as value):
            yield name, value, "default", ""
        case ir.Assign(targets=(target,), value=value):
            yield path_of(target).rpartition(".")[2], value, "value", ""
        case ir.AnnAssign(target=target, value=ir.Expr() as value):
            yield path_of(target).rpartition(".")[2], value, "value", ""
        case ir.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ir.Const) and isinstance(key.value, str):
                    yield key.value, value, "value", ""
