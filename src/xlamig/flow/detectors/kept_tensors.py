"""Tensors that live longer than the loop or the function that changes them in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext


def kept_tensor(node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "kept": nothing in the loop around, or in the function without one, makes the device tensor
    whose method is called, `buffer.resize_(n)`."""
    func = node.func
    if not isinstance(func, ir.Attribute) or not func.attr.endswith("_") or func.attr.endswith("__"):
        return {}
    owner = func.value
    if isinstance(owner, ir.Attribute) and owner.attr == "data":
        owner = owner.value
    path, root = path_of(owner), place.scope.node or analysis.module
    loops = [n for n in ir.path_down(root, node) if isinstance(n, ir.For | ir.While)]
    around = loops[-1] if loops else place.scope.node
    if not path or around is None or any(path == other for other in _paths_bound(around)):
        return {}
    return {"kept": path}


def _paths_bound(root: ir.Node) -> Iterator[str]:
    for node in ir.walk(root):
        match node:
            case ir.Assign(targets=targets):
                for target in targets:
                    yield from map(path_of, _parts(target))
            case ir.For(target=target) | ir.Walrus(target=target) | ir.WithItem(target=ir.Expr() as target):
                yield from map(path_of, _parts(target))


def _parts(target: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(target, ir.Sequence):
        for element in target.elements:
            yield from _parts(element)
    else:
        yield target
