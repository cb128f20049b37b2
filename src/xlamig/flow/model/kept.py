"""The functions and classes that a module keeps as values: `ways = {"score": score}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of


def kept_in(node: ir.Node, children: Iterable[ir.Node], module: Scope) -> Iterator[str]:
    """Yield the names of the functions and classes at the top of modules that a node names without calling
    them, by its `children`; what a call is handed is none."""
    if isinstance(node, ir.Arg):
        return
    called = node.func if isinstance(node, ir.Call) else None
    for child in children:
        if isinstance(child, ir.Name | ir.Attribute) and child is not called:
            first, _, rest = path_of(child).partition(".")
            for binding in module.bindings.get(first, ()):
                if binding.kind in ("function", "class", "import"):
                    yield (rest or binding.dotted or first).rpartition(".")[2]
