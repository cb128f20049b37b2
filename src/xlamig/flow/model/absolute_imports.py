"""The imports of a module as they are written, and which of the absolute ones run whenever it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xlamig import ir


class AbsoluteImports(NamedTuple):
    """Dotted names, of `from a import b` both "a" and "a.b". `needed` stand directly in the module's
    body: where one of them fails, the module does not load. `possible` are all. `relative` are those
    with their dots: "..a"."""

    needed: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()


def absolute_imports(module: ir.Module) -> AbsoluteImports:
    """Return the modules that a module imports by their full names."""
    every = [node for node in ir.statements(module) if isinstance(node, ir.Import | ir.ImportFrom)]
    return AbsoluteImports(_names(module.body), _names(every), tuple(sorted(set(_relative(every)))))


def _relative(nodes: Iterable[ir.Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ir.ImportFrom) and node.level:
            start = "." * node.level + node.module
            yield start
            dot = "." if node.module else ""
            yield from (f"{start}{dot}{alias.name}" for alias in node.names if alias.name != "*")


def _names(nodes: Iterable[ir.Node]) -> tuple[str, ...]:
    return tuple(sorted({name for node in nodes for name in _named(node)}))


def _named(node: ir.Node) -> Iterator[str]:
    match node:
        case ir.Import(names=names):
            yield from (alias.name for alias in names)
        case ir.ImportFrom(level=0, module=module, names=names):
            yield module
            yield from (f"{module}.{alias.name}" for alias in names if alias.name != "*")


def absolute(module: str, is_package: bool, node: ir.ImportFrom) -> str:
    """The dotted module an import statement means, relative dots resolved."""
    if not node.level:
        return node.module
    parts = module.split(".") if module else []
    drop = node.level - (1 if is_package else 0)
    base = parts[: len(parts) - drop] if drop <= len(parts) else [""]  # above the project: no name
    if base[:1] == ["src"] and (len(base) > 1 or node.module):  # a source root is no package
        base = base[1:]
    return ".".join([*base, node.module] if node.module else base)
