"""The functions and classes that a module keeps as values: `ways = {"score": score}`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.per_file import per_file


def kept_in(node: ir.Node, children: Iterable[ir.Node], module: Scope) -> Iterator[str]:
    """Yield the names of the functions and classes at the top of modules that a node names without calling
    them, by its `children`; what a call is handed is none."""
    if isinstance(node, ir.Arg):
        return
    called = node.func if isinstance(node, ir.Call) else None
    for child in children:
        if isinstance(child, ir.Name | ir.Attribute) and child is not called:
            first, _, rest = path_of(child).partition(".")
            for dotted in _defined(first, module):
                yield (rest or dotted or first).rpartition(".")[2]


@per_file
@lru_cache(maxsize=256)  # each mention of a name asks again
def _defined(name: str, module: Scope) -> Collection[str]:
    """Return the full names of the functions, classes and imports of a name, "" for those of the module."""
    kinds = ("function", "class", "import")
    bound = module.bindings.get(name, ())
    return dict.fromkeys(binding.dotted for binding in bound if binding.kind in kinds)
