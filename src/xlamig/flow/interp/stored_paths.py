"""The names and paths that a loop or function assigns to, or writes into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.per_file import per_file

_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"})
"""The methods of lists that change them; of a tensor only `sort` is one, which gives another tensor."""


class StoredPaths:
    """Paths with the nodes that store into each, in the order of a walk."""

    def __init__(self, stores: Iterable[tuple[str, ir.Node]]) -> None:
        self.by_path: dict[str, list[ir.Node]] = {}
        self._inside: dict[str, list[ir.Node]] = {}  # those that store into a path or a part of it
        for path, node in stores:
            self.by_path.setdefault(path, []).append(node)
            for whole in _wholes(path):
                self._inside.setdefault(whole, []).append(node)

    def touch(self, path: str, but: int = -1) -> bool:
        """Return whether a node stores into a path, a part of it, or what it is a part of; one that starts
        at `but` does not count."""
        outer = (self.by_path.get(whole, ()) for whole in _wholes(path) if whole != path)
        return any(node.start != but for node in chain(self._inside.get(path, ()), *outer))


def _wholes(path: str) -> Iterator[str]:
    """Yield a path and what it is a part of, the longest first: "a.b" and "a"."""
    while path:
        yield path
        path = path.rpartition(".")[0]


@per_file
@lru_cache(maxsize=64)  # each read in a loop asks again
def stored_in(node: ir.Node) -> StoredPaths:
    """Return the names and paths that a loop or function assigns to, or writes into."""
    return StoredPaths((path, part) for part in ir.walk(node) for path in _stored(part))


def _stored(part: ir.Node) -> Iterator[str]:
    """Yield the names and paths that a node assigns to, or writes into."""
    match part:
        case ir.Assign(targets=targets):
            yield from (path for target in targets for path in _written(target))
        case ir.AugAssign(target=target) | ir.AnnAssign(target=target) | ir.For(target=target):
            yield from _written(target)
        case ir.Walrus(target=target) | ir.WithItem(target=ir.Expr() as target):
            yield from _written(target)
        case ir.Call(func=ir.Attribute(value=owner, attr=attr)) if attr.endswith("_") or attr in _CHANGES:
            yield from _written(owner)


def _written(target: ir.Expr) -> Iterator[str]:
    match target:
        case ir.Sequence(elements=elements):
            for element in elements:
                yield from _written(element)
        case ir.Subscript(value=value):
            yield from _written(value)
        case ir.Name() | ir.Attribute():
            yield path_of(target)
