"""The losses of a loop: what its iterations compute gradients of."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.fix.loops import Loop, is_backward


def differentiated_names(loop: Loop) -> set[str]:
    """Return the names whose gradients an iteration computes, and the computed terms of their sums."""
    calls = (node for node in ir.walk(loop) if isinstance(node, ir.Call) and is_backward(node))
    found = {name for call in calls for name in _of_backward(call)}
    assigned = [
        (target.id, node.value)
        for node in ir.walk(loop)
        if isinstance(node, ir.Assign)
        for target in node.targets
        if isinstance(target, ir.Name)
    ]
    terms = {term for name, value in assigned if name in found for term in _terms(value)}
    computed = {name for name, value in assigned if isinstance(value, ir.Call | ir.Binary)}
    return found | (terms & computed)


def _of_backward(call: ir.Call) -> Iterator[str]:
    """Yield `loss` of `loss.backward()`, `scaler.scale(loss).backward()` and `accelerator.backward(loss)`."""
    match call:
        case ir.Call(args=(ir.Arg(keyword=None, value=ir.Name(id=name)), *_)) if "loss" in name.lower():
            yield name
        case ir.Call(func=ir.Attribute(value=ir.Name(id=name))):
            yield name
        case ir.Call(func=ir.Attribute(value=ir.Call(args=(ir.Arg(value=ir.Name(id=name)),)))):
            yield name


def _terms(value: ir.Expr) -> Iterator[str]:
    if isinstance(value, ir.Name):
        yield value.id
    elif isinstance(value, ir.Binary):
        yield from (*_terms(value.left), *_terms(value.right))
