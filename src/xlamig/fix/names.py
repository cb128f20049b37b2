"""Names that a piece of code reads and binds."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir


def last_name(node: ir.Node) -> str:
    """Return the name or the attribute that an expression ends with: "b" for `f(x).b`; "" for others."""
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return name
    return ""


def names_read(node: ir.Node) -> set[str]:
    """Every name below `node`, also those in binding positions."""
    return {n.id for n in ir.walk(node) if isinstance(n, ir.Name)}


def names_bound(node: ir.Node) -> Iterator[str]:
    """The names in what `node` itself assigns to, objects whose parts are assigned included."""
    match node:
        case ir.Assign(targets=targets):
            for one in targets:
                yield from names_read(one)
        case ir.AugAssign() | ir.AnnAssign() | ir.For() | ir.Walrus():
            yield from names_read(node.target)
        case ir.WithItem(target=ir.Expr() as target):
            yield from names_read(target)
