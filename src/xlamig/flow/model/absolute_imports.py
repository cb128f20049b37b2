"""The absolute imports of a module, and which of them run whenever the module does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xlamig import ir


class AbsoluteImports(NamedTuple):
    """Dotted names, of `from a import b` both "a" and "a.b". `needed` stand directly in the module's
    body: where one of them fails, the module does not load. `possible` are all."""

    needed: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()


def absolute_imports(module: ir.Module) -> AbsoluteImports:
    return AbsoluteImports(_names(module.body), _names(ir.walk(module)))


def _names(nodes: Iterable[ir.Node]) -> tuple[str, ...]:
    return tuple(sorted({name for node in nodes for name in _named(node)}))


def _named(node: ir.Node) -> Iterator[str]:
    match node:
        case ir.Import(names=names):
            yield from (alias.name for alias in names)
        case ir.ImportFrom(level=0, module=module, names=names):
            yield module
            yield from (f"{module}.{alias.name}" for alias in names if alias.name != "*")
