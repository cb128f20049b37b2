"""Answers if a name or a path of attributes still has, at another place, the value that it was read with."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Span
from xlamig.fix.scopes import Function, bindings, dotted_name, path_to


def keeps_meaning(module: ir.Module, read: ir.Node, path: str, place: Span, calls: bool = True) -> bool:
    """Return whether `path`, read in the node `read`, has the same value at `place` further on: nothing binds
    it again in between, and no function in between has a name like it. `calls`: functions that may bind an
    attribute run in between."""
    root = path.partition(".")[0]
    around = [n for n in path_to(module, read.start, read.end) if isinstance(n, Function)]
    inside = [n for n in path_to(module, *place) if isinstance(n, Function)]
    if around != inside[: len(around)]:
        return False
    owner = around[-1] if around else module
    entered = inside[len(around) :]
    if any(bindings(function, root) for function in entered):
        return False
    later = [n for n in bindings(owner, root) if n.start > read.start and not n.start <= place[0] < n.end]
    if any(_functions(module, n) == around for n in later):
        return False
    return not any(
        dotted_name(target) == path
        and (calls if _functions(module, node) != around else node.start > read.start)
        for node in ir.walk(module)
        if "." in path and isinstance(node, ir.Assign | ir.AugAssign)
        for target in (node.targets if isinstance(node, ir.Assign) else (node.target,))
    )


def _functions(module: ir.Module, node: ir.Node) -> list[ir.Node]:
    return [n for n in path_to(module, node.start, node.end)[:-1] if isinstance(n, Function)]
