"""The source text of a number as the tensor that it is read from."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir

_NUMBERS = frozenset({"int", "float", "bool"})


def unread(node: ir.Node, source: Callable[[ir.Node], str]) -> str:
    """Return the text of an expression without what reads a tensor in it: `x.max() + 1` of
    `int(x.max().item()) + 1`. `source` gives the text of a node."""
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr="item"), args=()):
            return unread(owner, source)
        case ir.Call(func=ir.Name(id=name), args=(ir.Arg(value=inner, keyword=None, star=""),)) if (
            name in _NUMBERS
        ):
            text = unread(inner, source)
            return f"({text})" if isinstance(inner, ir.Binary | ir.Compare | ir.IfExp) else text
    text = source(node)
    for child in reversed([*ir.children(node)]):
        start = child.start - node.start
        if text[start : start + child.end - child.start] == source(child):
            text = text[:start] + unread(child, source) + text[start + child.end - child.start :]
    return text
