"""Move nodes to another place of the text."""

from __future__ import annotations

from dataclasses import fields

from xlamig.ir.node import Node
from xlamig.ir.traversal import walk


class _Offsets(dict[type[Node], tuple[str, ...]]):
    """The fields of a kind of node that are offsets."""

    def __missing__(self, kind: type[Node]) -> tuple[str, ...]:
        names = (f.name for f in fields(kind) if f.name.endswith(("start", "end", "insert_at")))
        self[kind] = found = tuple(names)
        return found


_offsets = _Offsets()


def move(node: Node, by: int) -> None:
    """Add `by` to all offsets of a node and of what is below it; nothing else may hold these nodes."""
    for each in walk(node):
        for name in _offsets[type(each)]:
            setattr(each, name, getattr(each, name) + by)


def place(node: Node, at: int) -> None:
    """Set all offsets of a node and of what is below it, which has no text of its own there."""
    for each in walk(node):
        for name in _offsets[type(each)]:
            setattr(each, name, at)
